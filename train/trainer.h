#pragma once

#include <heed/autograd/rng.h>
#include <heed/train/average.h>
#include <heed/train/evaluate.h>
#include <heed/train/optimizers/optimizer.h>
#include <heed/train/schedule.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>

namespace heed {

struct TrainerOptions {
  std::int64_t steps = 1000;
  std::int64_t batch = 32;      ///< rows of a batch
  std::int64_t accumulate = 1;  ///< batches that make one update
  Schedule schedule = {};
  double clip = std::numeric_limits<double>::infinity();  ///< largest norm of the gradients
  double ema = 0;  ///< decay of an average of the weights, which is what is evaluated; 0 for none
  std::int64_t eval_every = 0;     ///< steps between two evaluations on the way; 0 for none
  std::int64_t eval_rows = 256;    ///< of such an evaluation; the last one takes all
  std::int64_t measure_every = 0;  ///< steps between two measurements of update_ratio; 0 for none
};

/// What one update was made of.
struct StepReport {
  std::int64_t step = 0;  ///< updates done, this one included
  double loss = 0;        ///< mean over the targets, before the update
  double accuracy = 0;
  double lr = 0;
  double grad_norm = 0;  ///< before clipping
  /// Length of the update over that of the parameters, where it was measured.
  std::optional<double> update_ratio = {};
  std::int64_t tokens = 0;
  double seconds = 0;
};

/// Called on the way; what is not set is not called.
struct TrainerCallbacks {
  /// Between the gradients and their clipping: where several machines would add up theirs.
  std::function<void(const Parameters&)> reduce = {};
  std::function<void(const StepReport&)> on_step = {};
  /// The parameters are then what was evaluated: their average, if there is one.
  std::function<void(std::int64_t step, const Evaluation&)> on_evaluate = {};
  /// Asked after each step; true ends the training there.
  std::function<bool()> stop = {};
};

/// Trains a model on a task: gradients, reduce, clip, update.
class Trainer {
 public:
  /// Batches come from rng.stream("data"), dropout from rng.stream("dropout"). The optimizer's lr
  /// is set from the schedule at each step. Throws ValueError for an option outside its range.
  Trainer(Trainable model, const Task& task, Optimizer& optimizer, TrainerOptions options,
          const Rng& rng, TrainerCallbacks callbacks = {});

  /// One update. Throws NonFinite, naming step, loss and the first bad parameter, if the loss or a
  /// gradient is not finite (or, within DetectAnomaly, the op it came from); the parameters are
  /// then as they were before.
  StepReport step();

  /// The steps that are left, with evaluations on the way. The evaluation after the last one, on
  /// all held-out rows, is returned; nothing if `stop` ended it before. Throws NonFinite as step()
  /// does, and if an evaluation's loss is not finite.
  std::optional<Evaluation> run();

  std::int64_t steps_done() const { return done_; }
  /// The average that `ema` asks for; null without.
  WeightAverage* average() { return average_ ? &*average_ : nullptr; }

 private:
  Evaluation evaluate_now(std::int64_t rows);

  Trainable model_;
  const Task& task_;
  Optimizer& optimizer_;
  TrainerOptions options_;
  TrainerCallbacks callbacks_;
  Rng data_, dropout_;
  std::optional<WeightAverage> average_;
  std::int64_t done_ = 0;
};

}  // namespace heed
