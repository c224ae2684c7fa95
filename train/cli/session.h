#pragma once

#include <heed/data/task.h>
#include <heed/train/cli/settings.h>
#include <heed/train/evaluate.h>

#include <optional>
#include <string>

namespace heed::cli {

struct SessionOptions {
  std::string out = "runs";     ///< the folder in which the run gets its own
  bool watch = false;           ///< draw the heads while they learn
  bool json = false;            ///< results as JSON lines
  bool detect_anomaly = false;  ///< look at every value and gradient; see DetectAnomaly
  bool one_of_many = false;     ///< one line of result, and no heads
};

/// What a training came to.
struct SessionResult {
  int code = 0;                         ///< the exit code
  std::optional<Evaluation> last = {};  ///< nothing if it was interrupted
  double seconds = 0;
};

/// One training, from the run directory it makes to what it says of the result. Throws WriteError
/// if the run cannot be written (and, before the first step, leaves nothing of it), and NonFinite
/// if the training diverges.
SessionResult run_session(const Settings& settings, const Task& task,
                          const SessionOptions& options);

}  // namespace heed::cli
