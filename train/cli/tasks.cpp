#include <heed/train/cli/commands.h>
#include <heed/train/cli/output.h>
#include <heed/train/cli/settings.h>
#include <heed/train/metrics.h>
#include <spdlog/fmt/fmt.h>

#include <memory>
#include <string>

namespace heed::cli {
namespace {

struct Arguments {
  std::string task;
  bool json = false;
};

std::string usage(const TaskInfo& info) {
  return command_name() + " train " + info.name + (info.takes_file ? " FILE" : "");
}

void describe(const TaskInfo& info) {
  out.line(info.name + ": " + info.summary + "\n\n" + info.description + "\n\n" + info.citation);
  std::string recipe = "\n" + usage(info) + " stands for";
  const Settings settings = settings_of(info.name);
  for (const Setting& setting : all_settings())
    recipe += " --" + setting.name + " " + shell_word(setting.get(settings));
  out.line(recipe);
}

int tasks(const Arguments& arguments) {
  const std::string only = arguments.task.empty() ? "" : find_task(arguments.task).name;
  for (const TaskInfo& info : heed::tasks()) {
    if (!only.empty() && info.name != only) continue;
    if (arguments.json)
      out.raw(json_line({{"task", info.name},
                         {"summary", info.summary},
                         {"citation", info.citation},
                         {"usage", usage(info)}}));
    else if (only.empty())
      out.line(
          fmt::format("{:<18}  {}", info.name + (info.takes_file ? " FILE" : ""), info.summary));
    else
      describe(info);
  }
  return kOk;
}

}  // namespace

void add_tasks(CLI::App& program, Action& action) {
  CLI::App* command =
      program.add_subcommand("tasks", "what can be learnt; with TASK, all about one");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("task", arguments->task, "the one to describe")->type_name("TASK");
  command->add_flag("--json", arguments->json, "one JSON object a task");
  command->callback([&action, arguments] { action = [arguments] { return tasks(*arguments); }; });
}

}  // namespace heed::cli
