#pragma once

#include <heed/data/task.h>
#include <heed/train/cli/settings.h>

#include <string>

namespace heed::cli {

struct SessionOptions {
  std::string out = "runs";     ///< the folder in which the run gets its own
  bool watch = false;           ///< draw the heads while they learn
  bool json = false;            ///< results as JSON lines
  bool detect_anomaly = false;  ///< look at every value and gradient; see DetectAnomaly
};

/// One training, from the run directory it makes to what it says of the result; returns the exit
/// code. Throws WriteError if the run cannot be written (and, before the first step, leaves nothing
/// of it), and NonFinite if the training diverges.
int run_session(const Settings& settings, const Task& task, const SessionOptions& options);

}  // namespace heed::cli
