#include <heed/autograd/anomaly.h>
#include <heed/autograd/error.h>
#include <heed/train/cli/example_prompt.h>
#include <heed/train/cli/interrupts.h>
#include <heed/train/cli/optimizer_of.h>
#include <heed/train/cli/progress.h>
#include <heed/train/cli/saved_run.h>
#include <heed/train/cli/session.h>
#include <heed/train/fixed_batches.h>
#include <heed/train/metrics.h>
#include <spdlog/fmt/fmt.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/basic_file_sink.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <optional>
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

/// One training, from the folder it writes into to its last line.
class Session {
 public:
  /// `most_accurate`: of rows that are to be learnt by heart, the share of targets that can be.
  Session(const Settings& settings, const Task& task, const SessionOptions& options,
          std::optional<double> most_accurate = {})
      : settings_(settings),
        task_(task),
        options_(options),
        most_accurate_(most_accurate),
        init_(rng_.stream("init")),
        model_(model_config(settings, task.vocabulary()), init_),
        optimizer_(optimizer_of(settings, parameters(model_))),
        trainer_(trainable(model_), task, *optimizer_, trainer_options(settings), rng_,
                 {.on_step = [this](const StepReport& report) { stepped(report); },
                  .on_evaluate = [this](std::int64_t step,
                                        const Evaluation& found) { evaluated(step, found); },
                  .stop = Interrupts::requested}),
        run_(create_run(options.out, model_, settings, task.tokenizer(), 0)) {}

  SessionResult run() {
    try {
      announce();
      return train();
    } catch (const NonFinite& error) {
      progress_.finish();
      const std::string reason = text(
          error.what(), "; the last good weights are ", run_.last_checkpoint().string(),
          "; try a smaller --lr",
          options_.detect_anomaly ? "" : ", or --detect-anomaly to learn which op it came from");
      ended_early(reason);
      log_.info("{}", error.what());
      throw NonFinite(reason);
    } catch (const std::exception& error) {
      std::error_code ignored;  // a run without a step is of no use to anybody
      if (settings_.steps > 0 && trainer_.steps_done() == 0)
        std::filesystem::remove_all(run_.path(), ignored);
      ended_early(reason_of(error));
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

  SessionResult train() {
    std::optional<DetectAnomaly> watched;
    if (options_.detect_anomaly) watched.emplace(parameters(model_));
    const auto start = std::chrono::steady_clock::now();
    const std::optional<Evaluation> last = trainer_.run();
    const Averaged scope(trainer_.average());  // from here on the model is what is kept of it
    progress_.finish();
    if (!last) return {.code = interrupted()};
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    finished(*last, time.count());
    return {.code = memorised(*last) ? kOk : kWrong, .last = last, .seconds = time.count()};
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
    log_.info("after step {}, on {}: {}", step, rows(found), describe(found));
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
    ended_early("interrupted");
    err.line(
        fmt::format("heed: interrupted; the weights after step {} are saved. Go on with", steps));
    err.command("eval " + shell_word(path));
    err.line("or train again from the start:");
    err.command("train --config " + shell_word(run_.config().string()));
    return kInterrupted;
  }

  /// What every result begins with.
  Fields result() const {
    return {{"event", options_.one_of_many ? "run" : "result"},
            {"task", settings_.task},
            {"seed", settings_.seed},
            {"steps", trainer_.steps_done()}};
  }

  /// The result of a training that did not come to its end.
  void ended_early(const std::string& reason) const {
    if (!options_.json) return;
    Fields fields = result();
    fields.push_back({"error", reason});
    if (std::error_code unknown; std::filesystem::exists(run_.path(), unknown))
      fields.push_back({"run", run_.path().string()});
    out.raw_if_possible(json_line(fields));
  }

  void finished(const Evaluation& last, double seconds) {
    log_.info("finished in {:.2f} s", seconds);
    const std::string path = run_.path().string();
    if (options_.json) {
      Fields fields = result();
      append(fields, last);
      fields.insert(fields.end(), {{"seconds", seconds}, {"run", path}});
      if (most_accurate_) fields.push_back({"memorised", memorised(last)});
      out.raw(json_line(fields));
      return;
    }
    out.line(fmt::format("{}{} after {} in {:.1f} s, {}: {}", settings_.task,
                         options_.one_of_many ? fmt::format(" with seed {}", settings_.seed) : "",
                         counted(settings_.steps, "step"), seconds, rows(last), describe(last)));
    if (most_accurate_)
      out.line(memorised(last)
                   ? "memorised: every target that can be known is right"
                   : fmt::format("not memorised: of the targets {:.2f} % can be known; try more "
                                 "--steps, or another --lr",
                                 100 * *most_accurate_));
    if (options_.one_of_many) return;
    if (!progress_.watched()) draw_heads();
    out.line("\nNext:");
    if (!find_task(settings_.task).labels)
      out.command(fmt::format("sample {} --prompt {}", shell_word(path),
                              shell_word(example_prompt(task_))));
    out.command("eval " + shell_word(path));
    if (!options_.watch)
      out.command(fmt::format("train --config {} --watch", shell_word(run_.config().string())));
  }

  std::string rows(const Evaluation& found) const {
    return counted(found.rows, std::string(rows_are()) + " row");
  }
  const char* rows_are() const { return most_accurate_ ? "fixed" : "unseen"; }
  bool memorised(const Evaluation& last) const {
    return !most_accurate_ || last.accuracy >= *most_accurate_;
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
  const std::optional<double> most_accurate_;
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
  Progress progress_{settings_.steps, options_.watch, [this] { return look(); }, rows_are()};
};

}  // namespace

SessionResult run_session(const Settings& settings, const Task& task,
                          const SessionOptions& options) {
  try {
    if (settings.overfit == 0) return Session(settings, task, options).run();
    const FixedBatches fixed(task, settings.overfit, settings.batch,
                             Rng(static_cast<std::uint64_t>(settings.seed)));
    return Session(settings, fixed, options, fixed.most_accurate()).run();
  } catch (const FileError& error) {  // files are only written here
    throw WriteError(error.what());
  }
}

}  // namespace heed::cli
