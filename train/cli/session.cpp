#include <heed/autograd/anomaly.h>
#include <heed/autograd/error.h>
#include <heed/train/atomic_file.h>
#include <heed/train/cli/build_info.h>
#include <heed/train/cli/interrupts.h>
#include <heed/train/cli/optimizer_of.h>
#include <heed/train/cli/progress.h>
#include <heed/train/cli/saved_run.h>
#include <heed/train/cli/session.h>
#include <heed/train/metrics.h>
#include <spdlog/fmt/fmt.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/basic_file_sink.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <optional>
#include <sstream>
#include <vector>

namespace heed::cli {
namespace {

constexpr std::int64_t kProbeRows = 16;
constexpr std::int64_t kMeasureEvery = 10;  // steps between two lines of metrics.jsonl
constexpr int kPlainHeight = 64;            // lines for the last maps, off a terminal
constexpr int kAround = 10;                 // lines that a terminal shows around them

TrainerOptions trainer_options(const Settings& settings) {
  return {.steps = settings.steps,
          .batch = settings.batch,
          .accumulate = settings.accumulate,
          .schedule = schedule_of(settings),
          .clip = settings.clip > 0 ? settings.clip : std::numeric_limits<double>::infinity(),
          .ema = settings.ema,
          .eval_every = settings.eval_every,
          .measure_every = kMeasureEvery};
}

/// A new run with all that it needs to be evaluated and run again, or nothing at all.
RunDirectory make_run(const std::string& out, const Settings& settings, const Transformer& model,
                      const Task& task) {
  RunDirectory run = RunDirectory::create(out, settings.task);
  try {
    AtomicFile config(run.config());
    config.write(to_config(settings) + "\n" + build_section());
    config.commit();
    save_run(run.last_checkpoint(), model, settings, task.tokenizer(), 0);
    return run;
  } catch (...) {
    std::error_code ignored;
    std::filesystem::remove_all(run.path(), ignored);
    throw;
  }
}

/// Something to continue: a held-out row up to its first target or, where that is the whole row,
/// the longest word in it.
std::string example_prompt(const Task& task) {
  const Batch batch = task.held_out(0, 1);
  const auto inputs = batch.inputs.data(), targets = batch.targets.data();
  const auto asked = std::ranges::find_if(targets, [](auto id) { return id != kIgnore; });
  if (asked != targets.begin() && asked != targets.end())
    return task.decode(inputs.first(static_cast<std::size_t>(asked - targets.begin()) + 1));
  std::istringstream words(task.decode(inputs));
  std::string longest;
  for (std::string word; words >> word;)
    if (word.size() > longest.size()) longest = word;
  return longest;
}

/// One training, from the folder it writes into to its last line.
class Session {
 public:
  Session(const Settings& settings, const Task& task, const SessionOptions& options)
      : settings_(settings),
        task_(task),
        options_(options),
        init_(rng_.stream("init")),
        model_(model_config(settings, task.vocabulary()), init_),
        optimizer_(optimizer_of(settings, parameters(model_))),
        trainer_(trainable(model_), task, *optimizer_, trainer_options(settings), rng_,
                 {.on_step = [this](const StepReport& report) { stepped(report); },
                  .on_evaluate = [this](std::int64_t step,
                                        const Evaluation& found) { evaluated(step, found); },
                  .stop = Interrupts::requested}),
        run_(make_run(options.out, settings, model_, task)) {}

  int run() {
    try {
      announce();
      return train();
    } catch (const NonFinite& error) {
      progress_.finish();
      log_.info("{}", error.what());
      throw NonFinite(text(
          error.what(), "; the last good weights are ", run_.last_checkpoint().string(),
          "; try a smaller --lr",
          options_.detect_anomaly ? "" : ", or --detect-anomaly to learn which op it came from"));
    } catch (...) {  // a run without a step is of no use to anybody
      std::error_code ignored;
      if (settings_.steps > 0 && trainer_.steps_done() == 0)
        std::filesystem::remove_all(run_.path(), ignored);
      throw;
    }
  }

 private:
  void announce() {
    const std::string path = run_.path().string();
    log_.set_pattern("%Y-%m-%d %H:%M:%S.%e  %v");
    log_.flush_on(spdlog::level::info);
    log_.set_error_handler([](const std::string& reason) { throw WriteError(reason); });
    log_.info("{} parameters, {} ids, into {}", count(model_), task_.vocabulary(), path);
    err.line(fmt::format("{}: {} parameters, {}, into {}", settings_.task, count(model_),
                         counted(settings_.steps, "step"), path));
    if (options_.json) out.raw(json_line({{"event", "start"}, {"run", path}}));
  }

  int train() {
    std::optional<DetectAnomaly> watched;
    if (options_.detect_anomaly) watched.emplace(parameters(model_));
    const auto start = std::chrono::steady_clock::now();
    const std::optional<Evaluation> last = trainer_.run();
    progress_.finish();
    const Averaged scope(trainer_.average());  // from here on the model is what is kept of it
    if (!last) return interrupted();
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    finished(*last, time.count());
    return kOk;
  }

  void stepped(const StepReport& report) {
    progress_.step(report);
    if (!report.update_ratio) return;
    metrics_.write({{"event", "step"},
                    {"step", report.step},
                    {"loss", report.loss},
                    {"accuracy", report.accuracy},
                    {"lr", report.lr},
                    {"grad_norm", report.grad_norm},
                    {"update_ratio", *report.update_ratio},
                    {"tokens_per_second", static_cast<double>(report.tokens) / report.seconds}});
  }

  void evaluated(std::int64_t step, const Evaluation& found) {
    Fields fields{{"event", "evaluate"}, {"step", step}};
    append(fields, found);
    metrics_.write(fields);
    save(step);
    progress_.evaluated(found);
    log_.info("after step {}, on {} unseen rows: {}", step, found.rows, describe(found));
    if (options_.json) out.raw(json_line(fields));
  }

  void save(std::int64_t step) {
    save_run(run_.last_checkpoint(), model_, settings_, task_.tokenizer(), step);
  }

  int interrupted() {
    const std::int64_t steps = trainer_.steps_done();
    save(steps);
    log_.info("interrupted after step {}", steps);
    const std::string path = run_.path().string();
    if (options_.json)
      out.raw(json_line(
          {{"event", "interrupted"}, {"task", settings_.task}, {"steps", steps}, {"run", path}}));
    err.line(
        fmt::format("heed: interrupted; the weights after step {} are saved. Go on with\n"
                    "  {} eval {}\nor train again from the start:\n  {} train --config {}",
                    steps, command_name(), shell_word(path), command_name(),
                    shell_word(run_.config().string())));
    return kInterrupted;
  }

  void finished(const Evaluation& last, double seconds) {
    log_.info("finished in {:.2f} s", seconds);
    const std::string path = run_.path().string();
    if (options_.json) {
      Fields fields{{"event", "result"}, {"task", settings_.task}, {"steps", settings_.steps}};
      append(fields, last);
      fields.insert(fields.end(), {{"seconds", seconds}, {"run", path}});
      out.raw(json_line(fields));
      return;
    }
    out.line(fmt::format("{} after {} in {:.1f} s, {} unseen rows: {}", settings_.task,
                         counted(settings_.steps, "step"), seconds, last.rows, describe(last)));
    if (!progress_.watched()) draw_heads();
    out.line(fmt::format("\nNext:\n  {0} sample {1} --prompt {2}\n  {0} eval {1}", command_name(),
                         shell_word(path), shell_word(example_prompt(task_))));
    if (!options_.watch)
      out.line(fmt::format("  {} train --config {} --watch", command_name(),
                           shell_word(run_.config().string())));
  }

  void draw_heads() const {
    const Terminal now = out.terminal();
    const int height = now.interactive ? std::max(now.height - kAround, kAround) : kPlainHeight;
    out.line("");
    out.lines(heat_maps(maps_of(look()), {now.width, height, now.color}));
  }

  std::vector<Head> look() const { return look_at_heads(model_, probe_, cells_); }

  const Settings& settings_;
  const Task& task_;
  const SessionOptions& options_;
  Rng rng_{static_cast<std::uint64_t>(settings_.seed)}, init_, probe_rng_{rng_.stream("probe")};
  Transformer model_;
  const std::unique_ptr<Optimizer> optimizer_;
  Trainer trainer_;
  const Batch probe_ = task_.sample(kProbeRows, probe_rng_);  // whose heads are shown
  const std::vector<std::vector<Cell>> cells_ = alignment_cells(task_, probe_);
  const Interrupts interrupts_;  // from here on there is something to save
  RunDirectory run_;
  MetricsFile metrics_{run_.metrics()};
  spdlog::logger log_{"heed", std::make_shared<spdlog::sinks::basic_file_sink_st>(run_.log())};
  Progress progress_{settings_.steps, options_.watch, [this] { return look(); }};
};

}  // namespace

int run_session(const Settings& settings, const Task& task, const SessionOptions& options) {
  try {
    return Session(settings, task, options).run();
  } catch (const FileError& error) {  // files are only written here
    throw WriteError(error.what());
  }
}

}  // namespace heed::cli
