#include <heed/autograd/error.h>
#include <heed/autograd/ops/dropout.h>
#include <heed/autograd/ops/loss.h>
#include <heed/train/accumulate.h>
#include <heed/train/clip.h>
#include <heed/train/trainer.h>

#include <chrono>
#include <cmath>
#include <utility>

namespace heed {
namespace {

void validate(const TrainerOptions& options) {
  const auto at_least = [](std::string_view name, std::int64_t value, std::int64_t least) {
    if (value < least)
      throw ValueError(text("trainer: ", name, " = ", value, " must be at least ", least));
  };
  at_least("steps", options.steps, 0);
  at_least("batch", options.batch, 1);
  at_least("accumulate", options.accumulate, 1);
  at_least("eval_every", options.eval_every, 0);
  at_least("eval_rows", options.eval_rows, 1);
  at_least("measure_every", options.measure_every, 0);
  if (!(options.clip > 0))
    throw ValueError(text("trainer: clip = ", options.clip, " is not above 0"));
  if (!(options.ema >= 0 && options.ema < 1))
    throw ValueError(text("trainer: ema = ", options.ema, " is not in [0, 1)"));
  validate(options.schedule);
}

/// The values of parameters at one moment.
class Snapshot {
 public:
  explicit Snapshot(const Parameters& parameters) : parameters_(parameters) {
    for (const NamedTensor& parameter : parameters)
      before_.push_back(parameter.value.detach().clone());
  }

  /// Length of what has changed since, over the length there was.
  double relative_change() const {
    double change = 0, length = 0;
    for (std::size_t i = 0; i < before_.size(); ++i)
      dispatch(before_[i].dtype(), [&](auto t) {
        const auto from = before_[i].data<decltype(t)>();
        const auto to = parameters_[i].value.data<decltype(t)>();
        for (std::size_t k = 0; k < from.size(); ++k) {
          const double a = from[k], b = to[k];
          change += (b - a) * (b - a);
          length += a * a;
        }
      });
    return std::sqrt(change / length);
  }

 private:
  const Parameters& parameters_;
  std::vector<Tensor> before_;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

Trainer::Trainer(Trainable model, const Task& task, Optimizer& optimizer, TrainerOptions options,
                 const Rng& rng, TrainerCallbacks callbacks)
    : model_(std::move(model)),
      task_(task),
      optimizer_(optimizer),
      options_(options),
      callbacks_(std::move(callbacks)),
      data_(rng.stream("data")),
      dropout_(rng.stream("dropout")) {
  validate(options_);
  if (options_.ema > 0) average_.emplace(model_.parameters, options_.ema);
}

StepReport Trainer::step() {
  const auto start = std::chrono::steady_clock::now();
  StepReport report{.step = done_ + 1, .lr = options_.schedule.at(done_)};
  const auto next = [&] {
    Batch batch = task_.sample(options_.batch, data_);
    report.tokens += batch.inputs.numel();
    return batch;
  };
  Tally tally;
  const auto loss = [&](const Batch& batch) {
    const Tensor logits = model_.logits(batch);
    tally.add(logits, batch.targets);
    return cross_entropy(logits, batch.targets);
  };

  optimizer_.set_lr(report.lr);
  try {
    const Training scope(dropout_);
    report.loss = accumulate_gradients(model_.parameters, options_.accumulate, next, loss);
  } catch (const NonFinite& error) {  // of DetectAnomaly
    throw NonFinite(
        text("stopped at step ", report.step, " at lr ", report.lr, "; ", error.what()));
  }
  report.accuracy = tally.accuracy();
  if (callbacks_.reduce) callbacks_.reduce(model_.parameters);

  try {
    report.grad_norm = clip_grad_norm(model_.parameters, options_.clip);
    if (!std::isfinite(report.loss)) throw NonFinite("but every gradient is finite");
  } catch (const NonFinite& error) {
    throw NonFinite(text("stopped at step ", report.step, ": loss ", report.loss, " at lr ",
                         report.lr, "; ", error.what()));
  }

  const bool measured = options_.measure_every > 0 && (report.step % options_.measure_every == 0 ||
                                                       done_ == 0 || report.step == options_.steps);
  std::optional<Snapshot> before;
  if (measured) before.emplace(model_.parameters);
  optimizer_.step();
  if (before) report.update_ratio = before->relative_change();
  if (average_) average_->update();
  ++done_;
  report.seconds = seconds_since(start);
  return report;
}

std::optional<Evaluation> Trainer::run() {
  while (done_ < options_.steps) {
    const StepReport report = step();
    if (callbacks_.on_step) callbacks_.on_step(report);
    if (callbacks_.stop && callbacks_.stop()) return {};
    if (options_.eval_every > 0 && done_ % options_.eval_every == 0 && done_ < options_.steps)
      evaluate_now(options_.eval_rows);
  }
  return evaluate_now(task_.held_out_rows());
}

Evaluation Trainer::evaluate_now(std::int64_t rows) {
  const Averaged scope(average());
  const Evaluation found = evaluate(model_, task_, rows);
  if (!std::isfinite(found.loss))
    throw NonFinite(
        text("stopped after step ", done_, ": the loss on held-out rows is ", found.loss));
  if (callbacks_.on_evaluate) callbacks_.on_evaluate(done_, found);
  return found;
}

}  // namespace heed
