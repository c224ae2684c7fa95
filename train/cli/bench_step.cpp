#include <heed/autograd/engine.h>
#include <heed/autograd/memory.h>
#include <heed/autograd/ops/loss.h>
#include <heed/autograd/profile.h>
#include <heed/autograd/threads.h>
#include <heed/train/checkpoint.h>
#include <heed/train/cli/bench.h>
#include <heed/train/cli/bench_model.h>
#include <heed/train/cli/bench_peak.h>
#include <heed/train/cli/bench_table.h>
#include <heed/train/cli/bench_timing.h>
#include <heed/train/cli/threads.h>
#include <heed/train/clip.h>
#include <heed/train/optimizers/adam.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <ctime>
#include <limits>
#include <vector>

namespace heed::cli {
namespace {

constexpr std::int64_t kWarmUp = 5;

/// The time of a step and of what is no op in it, in seconds.
struct Parts {
  double all = 0, clip = 0, update = 0;
  double cpu = 0;  ///< of all threads
};

/// A model with its optimizer and its batches: the loop that is timed.
class Loop {
 public:
  Loop(const BenchModel& model, const BenchStep& arguments)
      : model_(model), transformer_(model.config, init_) {
    if (!arguments.weights.empty())
      load_checkpoint(arguments.weights, named_parameters(transformer_));
    if (!arguments.save_weights.empty()) save(arguments.save_weights);
  }

  /// Forward, cross-entropy, backward, clip, AdamW. The batch is made before the clock starts.
  Parts step() {
    const Batch batch = bench_batch(model_, steps_++);
    Parts parts;
    const std::int64_t asked = system_allocations();
    const std::clock_t cpu = std::clock();
    const Stopwatch all;
    const Tensor loss = cross_entropy(transformer_(batch.inputs), batch.targets);
    optimizer_.zero_grad();
    backward(loss);
    const Stopwatch clip;
    clip_grad_norm(optimizer_.parameters(), 1.0);
    const Stopwatch update;
    optimizer_.step();
    parts.update = update.seconds();
    parts.clip = clip.seconds() - parts.update;
    parts.all = all.seconds();
    parts.cpu = static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC;
    allocations_ = system_allocations() - asked;
    last_loss_ = loss.item();
    if (steps_ == 1) first_loss_ = last_loss_;
    return parts;
  }

  std::int64_t steps() const { return steps_; }
  double first_loss() const { return first_loss_; }
  double last_loss() const { return last_loss_; }
  /// Of the last step.
  std::int64_t allocations() const { return allocations_; }

 private:
  void save(const std::string& path) const {
    try {
      save_checkpoint(path, named_parameters(transformer_));
    } catch (const FileError& error) {
      throw WriteError(error.what());
    }
  }

  const BenchModel& model_;
  Rng init_{0};
  Transformer transformer_;
  AdamW optimizer_{parameters(transformer_), {.lr = 1e-3, .weight_decay = 0.01}};
  std::int64_t steps_ = 0, allocations_ = 0;
  double first_loss_ = 0, last_loss_ = 0;
};

/// Calls `step` as often as was asked.
template <class Step>
void repeat(const BenchStep& arguments, Step step) {
  const Stopwatch watch;
  std::int64_t done = 0;
  do {
    step();
    ++done;
  } while (arguments.steps > 0 ? done < arguments.steps : watch.seconds() < arguments.seconds);
}

/// The parts of the fastest of several steps.
struct Fastest {
  Parts parts = {.all = std::numeric_limits<double>::infinity()};
  std::vector<OpProfile> ops = {};
};

Fastest profiled(Loop& loop, const BenchStep& arguments) {
  Fastest fastest;
  repeat(arguments, [&] {
    const Profile profile;
    const Parts parts = loop.step();
    if (parts.all < fastest.parts.all) fastest = {parts, profile.ops()};
  });
  return fastest;
}

void print_profile(const Fastest& fastest, bool json) {
  if (!json) out.line("");
  const BenchTable table({{"of the fastest step", 26},
                          {"calls", 6},
                          {"forward ms", 10},
                          {"backward ms", 11},
                          {"ms", 9},
                          {"share", 7}},
                         json);
  const Parts& parts = fastest.parts;
  double rest = parts.all;
  const auto share = [&](double seconds) {
    return fmt::format("{:.1f} %", 100 * seconds / parts.all);
  };
  const auto time = [](double seconds) { return fmt::format("{:.4f}", 1e3 * seconds); };

  std::vector<OpProfile> ops = fastest.ops;
  const auto total = [](const OpProfile& op) { return op.forward.seconds + op.backward.seconds; };
  std::ranges::sort(ops, std::ranges::greater(), total);
  for (const OpProfile& op : ops) {
    rest -= total(op);
    table.row({std::string(op.op), fmt::to_string(op.forward.calls), time(op.forward.seconds),
               time(op.backward.seconds), time(total(op)), share(total(op))},
              {{"event", "profile"},
               {"part", std::string(op.op)},
               {"calls", op.forward.calls},
               {"forward_ms", 1e3 * op.forward.seconds},
               {"backward_calls", op.backward.calls},
               {"backward_ms", 1e3 * op.backward.seconds},
               {"ms", 1e3 * total(op)},
               {"share", total(op) / parts.all}});
  }
  const auto row = [&](const std::string& part, double seconds) {
    table.row({part, "", "", "", time(seconds), share(seconds)}, {{"event", "profile"},
                                                                  {"part", part},
                                                                  {"ms", 1e3 * seconds},
                                                                  {"share", seconds / parts.all}});
  };
  row("clip_grad_norm", parts.clip);
  row("AdamW", parts.update);
  row("between ops", rest - parts.clip - parts.update);
  row("the step", parts.all);
}

}  // namespace

int bench_step(const BenchStep& arguments) {
  use_threads(arguments.threads);
  const BenchModel& model = bench_model(arguments.model);
  Loop loop(model, arguments);
  for (std::int64_t i = 0; i < kWarmUp; ++i) loop.step();
  Timings timings;
  double wall = 0, cpu = 0;
  repeat(arguments, [&] {
    const Parts parts = loop.step();
    timings.add(parts.all);
    wall += parts.all;
    cpu += parts.cpu;
  });
  const double last_loss = loop.last_loss();
  const std::int64_t steps = loop.steps(), allocations = loop.allocations();
  const double memory = 1e-6 * peak_memory();

  const double seconds = 1e-3 * timings.min_ms();
  const double tokens = static_cast<double>(tokens_of_step(model)) / seconds;
  const double gflops = 1e-9 * flops_of_step(model) / seconds;
  const double share = gflops / peak_gflops(threads());
  const BenchTable table({{"model", 11},
                          {"threads", 7},
                          {"min ms", 8},
                          {"median ms", 9},
                          {"tokens/s", 8},
                          {"GFLOP/s", 7},
                          {"of peak", 7},
                          {"peak MB", 7},
                          {"allocs", 6}},
                         arguments.json);
  const Fields result = {{"event", "result"},
                         {"model", model.name},
                         {"threads", std::int64_t{threads()}},
                         {"min_ms", timings.min_ms()},
                         {"median_ms", timings.median_ms()},
                         {"tokens_per_s", tokens},
                         {"gflops", gflops},
                         {"share_of_peak", share},
                         {"peak_mb", memory},
                         {"allocations", allocations},
                         {"cpu_over_wall", cpu / wall},
                         {"steps", steps},
                         {"first_loss", loop.first_loss()},
                         {"last_loss", last_loss}};
  const std::vector<std::string> cells = {model.name,
                                          fmt::to_string(threads()),
                                          fmt::format("{:.4f}", timings.min_ms()),
                                          fmt::format("{:.4f}", timings.median_ms()),
                                          fmt::format("{:.0f}", tokens),
                                          fmt::format("{:.1f}", gflops),
                                          fmt::format("{:.0f} %", 100 * share),
                                          fmt::format("{:.1f}", memory),
                                          fmt::to_string(allocations)};
  if (!arguments.json) table.row(cells, result);
  if (arguments.profile) print_profile(profiled(loop, arguments), arguments.json);
  if (arguments.json) table.row(cells, result);  // the last line
  return kOk;
}

}  // namespace heed::cli
