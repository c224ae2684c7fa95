#include <heed/autograd/error.h>
#include <heed/data/numbers.h>
#include <heed/data/text/corpus.h>
#include <heed/train/atomic_file.h>
#include <heed/train/cli/commands.h>
#include <heed/train/cli/output.h>
#include <heed/train/cli/progress.h>
#include <heed/train/cli/saved_run.h>
#include <heed/train/cli/threads.h>
#include <heed/train/metrics.h>
#include <heed/train/view/svg.h>
#include <spdlog/fmt/fmt.h>

#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <system_error>

namespace heed::cli {
namespace {

constexpr std::int64_t kHeadRows = 64;  // rows on which heads are measured

struct EvalArguments {
  std::string run, file, svg;
  std::int64_t rows = std::numeric_limits<std::int64_t>::max();
  bool json = false;
};

void write_svg(const std::string& path, std::span<const Head> heads) {
  try {
    AtomicFile file(path);
    file.write(heat_maps_svg(maps_of(heads), 4));
    file.commit();
  } catch (const FileError& error) {
    throw WriteError(error.what());
  }
}

/// What the rows are drawn from.
struct Source {
  std::string file;          ///< none if empty
  std::string content;       ///< its bytes
  bool whole = false;        ///< the content is not that of the training: all of it counts
  bool known_unseen = true;  ///< nothing of what counts was trained on, as far as can be told

  Source(const Settings& settings, const std::string& other) {
    std::error_code unknown;
    const bool own = other.empty() || std::filesystem::equivalent(other, settings.file, unknown);
    file = own ? settings.file : other;
    if (file.empty()) return;
    content = read_file(file);
    const std::string trained = fingerprint_of_training(settings);
    whole = trained != fingerprint_of(content);
    known_unseen = !whole || (!own && !trained.empty());
  }

  /// 7 unseen rows of all of poem.txt
  std::string described(std::int64_t rows) const {
    const std::string counts = counted(rows, known_unseen ? "unseen row" : "row");
    if (file.empty()) return counts;
    return counts + " of " + (whole ? "all of " : "what is held out of ") + printable(file);
  }

 private:
  /// That of the checkpoint or, if it is of old, of the file as it is now; empty if there is none.
  static std::string fingerprint_of_training(const Settings& settings) {
    if (!settings.fingerprint.empty()) return settings.fingerprint;
    try {
      return fingerprint_of(read_file(settings.file));
    } catch (const FileError&) {
      return "";
    }
  }
};

/// Says of rows of which it is not known whether they were trained on why that is so.
void warn(const Source& source, const Settings& settings) {
  if (source.known_unseen) return;
  err.line(settings.fingerprint.empty()
               ? text("heed: ", settings.file, ", the file of the training, cannot be read; it is ",
                      "not known whether ", source.file, " was trained on")
               : text("heed: ", source.file, " has changed since the training; it is not known ",
                      "how much of it was trained on"));
}

/// The task as the run's model reads it.
std::unique_ptr<Task> task_of(const SavedRun& run, const Source& source) {
  const std::string vocabulary = run.tokenizer->save();
  TaskOptions options = task_options(run.settings, source.file);
  options.tokenizer = vocabulary;
  options.all_held_out = source.whole;
  if (!source.file.empty()) options.content = source.content;
  std::unique_ptr<Task> task = make_task(run.settings.task, options);
  if (task->tokenizer().save() != vocabulary)
    throw FileError(text(run.checkpoint, " was trained on another vocabulary than that of ",
                         run.settings.task, "; its model cannot read it"));
  return task;
}

int eval(const EvalArguments& arguments) {
  const SavedRun run = load_run(arguments.run);
  const Settings& settings = run.settings;
  const Source source(settings, arguments.file);
  const std::unique_ptr<Task> task = task_of(run, source);
  warn(source, settings);
  const Trainable model = trainable(run.model);
  const Evaluation found = evaluate(model, *task, arguments.rows);
  const Batch batch = task->held_out(0, std::min(kHeadRows, task->held_out_rows()));
  const std::vector<Head> heads = look_at_heads(run.model, batch, alignment_cells(*task, batch));
  if (!arguments.svg.empty()) write_svg(arguments.svg, heads);

  if (arguments.json) {
    Fields fields{{"event", "result"}, {"task", settings.task}, {"steps", run.step}};
    append(fields, found);
    if (!source.file.empty())
      fields.insert(fields.end(), {{"file", source.file},
                                   {"whole_file", source.whole},
                                   {"known_unseen", source.known_unseen}});
    fields.push_back({"checkpoint", run.checkpoint});
    out.raw(json_line(fields));
    return kOk;
  }
  out.line(fmt::format("{} after {}, {}: {}", settings.task, counted(run.step, "step"),
                       source.described(found.rows), describe(found)));
  for (const auto& [name, loss] : task->baselines())
    out.line(fmt::format("baseline, {}: loss {:.4f}", name, loss));
  out.line("");
  out.lines(head_table(heads, out.terminal().width));
  return kOk;
}

}  // namespace

void add_eval(CLI::App& program, Action& action) {
  CLI::App* command =
      program.add_subcommand("eval", "how well a trained model does on rows it has not seen");
  const auto arguments = std::make_shared<EvalArguments>();
  command->add_option("run", arguments->run, "a run, a folder of runs (its newest), a checkpoint")
      ->type_name("RUN")
      ->required();
  add_number(*command, "--rows", Whole{1}, arguments->rows, "how many rows, 1 or more [all]");
  command
      ->add_option("--file", arguments->file,
                   "another file than that of the training, read in the same vocabulary; all of it "
                   "is counted, and of the training's own, whatever its name, what it held out")
      ->type_name("FILE")
      ->check([](const std::string& file) { return file.empty() ? "needs a value" : ""; });
  command->add_option("--svg", arguments->svg, "also draw the maps of the heads into this file")
      ->type_name("FILE");
  command->add_flag("--json", arguments->json, "one JSON object");
  command->callback([&action, arguments] {
    action = [arguments] {
      use_threads({});
      return eval(*arguments);
    };
  });
}

}  // namespace heed::cli
