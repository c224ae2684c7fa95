#include <heed/train/cli/commands.h>
#include <heed/train/cli/output.h>
#include <heed/train/cli/settings.h>
#include <heed/train/metrics.h>
#include <spdlog/fmt/fmt.h>

#include <memory>
#include <string>

namespace heed::cli {
namespace {

struct TasksArguments {
  std::string task;
  bool json = false;
};

constexpr std::int64_t kExampleContext = 24;

std::string usage(const TaskInfo& info) {
  return command_name() + " train " + info.name + (info.takes_file ? " FILE" : "");
}

/// At most so many characters of a row.
std::string cut(const std::string& row) {
  const Lines lines = wrap(row, 84);
  return lines.size() > 1 ? lines.front() + " ..." : row;
}

/// Rows as they are trained on, each on a line.
std::string sample_rows(const Task& task) {
  constexpr std::int64_t kRows = 3;
  Rng rng(1);
  const Batch batch = task.sample(kRows, rng);
  const auto width = static_cast<std::size_t>(batch.inputs.dim(1));
  std::string rows;
  for (std::size_t first = 0; first < batch.inputs.data().size(); first += width)
    for (const auto& [name, ids] : {std::pair("\n\n  inputs   ", batch.inputs.data()),
                                    std::pair("\n  targets  ", batch.targets.data())})
      rows += name + cut(printable(task.decode(ids.subspan(first, width)), ""));
  return rows;
}

/// What can be shown of a task: of one that reads a file, rows of its example.
std::string known_of(const TaskInfo& info) {
  TaskOptions options;
  if (info.takes_file)
    options = {.file = "the example", .context = kExampleContext, .content = info.example};
  const std::unique_ptr<Task> made = make_task(info.name, options);
  const Task& task = *made;
  std::string known;
  if (info.takes_file)
    known = fmt::format("\n\nRows of {}, at --context {}:",
                        info.example == info.description
                            ? "the text above"
                            : "a file that holds " + printable(info.example, ""),
                        kExampleContext);
  known += sample_rows(task) + "\n\nLosses to compare with:";
  for (const auto& [name, loss] : task.baselines())
    known += fmt::format("{} {} {:.4f}", known.ends_with(':') ? "" : ",", name, loss);
  return known;
}

void describe(const TaskInfo& info) {
  std::string page = info.name + ": " + info.summary + "\n\n" + info.description;
  if (!info.takes_file || !info.example.empty()) page += known_of(info);
  out.line(page + "\n\n" + info.citation);
  for (const TaskOption& option : info.options)
    out.line(
        fmt::format("\n--{}: {}: {} [{}]", option.name, option.help, option.range, option.value));
  std::string recipe = "\n" + usage(info) + " stands for";
  const Settings settings = settings_of(info.name);
  for (const auto& [name, value] : settings.options) recipe += " --" + name + " " + value;
  for (const Setting& setting : all_settings())
    recipe += " --" + setting.name + " " + shell_word(setting.get(settings));
  out.line(recipe);
}

int show(const TasksArguments& arguments) {
  const std::string only = arguments.task.empty() ? "" : find_task(arguments.task).name;
  std::int64_t listed = 0;
  for (const TaskInfo& info : tasks()) {
    if (!only.empty() && info.name != only) continue;
    ++listed;
    if (arguments.json)
      out.raw(json_line({{"event", "task"},
                         {"task", info.name},
                         {"summary", info.summary},
                         {"citation", info.citation},
                         {"usage", usage(info)}}));
    else if (only.empty())
      out.line(
          fmt::format("{:<18}  {}", info.name + (info.takes_file ? " FILE" : ""), info.summary));
    else
      describe(info);
  }
  if (arguments.json) out.raw(json_line({{"event", "result"}, {"tasks", listed}}));
  return kOk;
}

}  // namespace

void add_tasks(CLI::App& program, Action& action) {
  CLI::App* command =
      program.add_subcommand("tasks", "what can be learnt; with TASK, all about one");
  const auto arguments = std::make_shared<TasksArguments>();
  command->add_option("task", arguments->task, "the one to describe")->type_name("TASK");
  command->add_flag("--json", arguments->json, "one JSON object a line, the result last");
  command->callback([&action, arguments] { action = [arguments] { return show(*arguments); }; });
}

}  // namespace heed::cli
