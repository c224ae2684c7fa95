#pragma once

#include <heed/train/cli/output.h>
#include <heed/train/metrics.h>
#include <heed/train/trainer.h>
#include <heed/train/view/spark_line.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace heed::cli {

/// For people: loss 0.0123, accuracy 99.87 %, exact 98.10 %, alignment 0.93
std::string describe(const Evaluation& evaluation);

/// The same for programs.
void append(Fields& fields, const Evaluation& evaluation);

/// Tells people how a training goes, on stderr: on a terminal by a line that is drawn over, or with
/// `watch` by the curve of the loss and the maps of the heads; elsewhere by one plain line for each
/// evaluation.
class Progress {
 public:
  using Look = std::function<std::vector<Head>()>;

  /// `look` is asked for the heads when they are drawn; `rows` is what those are that are
  /// evaluated: unseen.
  Progress(std::int64_t steps, bool watch, Look look, std::string rows = "unseen");

  void step(const StepReport& report);
  void evaluated(const Evaluation& evaluation);
  /// Leaves a last drawing of the heads, if they are watched, and nothing else.
  void finish();
  /// Whether the heads have been shown.
  bool watched() const { return watch_; }

 private:
  std::string status() const;
  void draw();

  std::int64_t steps_;
  bool watch_;
  Look look_;
  std::string rows_;
  LiveLines live_{err.descriptor()};
  std::vector<double> losses_;
  StepReport last_;
  std::string evaluation_;  // the last one
  std::int64_t tokens_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point next_{};  // when to show something again
};

}  // namespace heed::cli
