#include <heed/autograd/error.h>
#include <heed/data/numbers.h>
#include <heed/train/atomic_file.h>
#include <heed/train/cli/commands.h>
#include <heed/train/cli/output.h>
#include <heed/train/cli/progress.h>
#include <heed/train/cli/saved_run.h>
#include <heed/train/cli/threads.h>
#include <heed/train/metrics.h>
#include <heed/train/view/svg.h>
#include <spdlog/fmt/fmt.h>

#include <limits>
#include <memory>
#include <string>

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

int eval(const EvalArguments& arguments) {
  const SavedRun run = load_run(arguments.run);
  const Settings& settings = run.settings;
  const std::unique_ptr<Task> task =
      make_task(settings.task, task_options(settings, arguments.file));
  if (task->tokenizer().save() != run.tokenizer->save())
    throw FileError(text(run.checkpoint, " was trained on another vocabulary than that of ",
                         settings.task, " ", arguments.file, "; its model cannot read it"));
  const Trainable model = trainable(run.model);
  const Evaluation found = evaluate(model, *task, arguments.rows);
  const Batch batch = task->held_out(0, std::min(kHeadRows, task->held_out_rows()));
  const std::vector<Head> heads = look_at_heads(run.model, batch, alignment_cells(*task, batch));
  if (!arguments.svg.empty()) write_svg(arguments.svg, heads);

  if (arguments.json) {
    Fields fields{{"event", "result"}, {"task", settings.task}, {"steps", run.step}};
    append(fields, found);
    fields.push_back({"checkpoint", run.checkpoint});
    out.raw(json_line(fields));
    return kOk;
  }
  out.line(fmt::format("{} after {}, {}: {}", settings.task, counted(run.step, "step"),
                       counted(found.rows, "unseen row"), describe(found)));
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
  command->add_option("--file", arguments->file, "another text than that of the training")
      ->type_name("FILE");
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
