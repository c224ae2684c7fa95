#include <heed/autograd/error.h>
#include <heed/data/tasks/rows.h>
#include <heed/data/text/corpus.h>
#include <heed/data/text/make_tokenizer.h>
#include <heed/data/text/utf8.h>
#include <heed/train/cli/commands.h>
#include <heed/train/cli/explain.h>
#include <heed/train/cli/output.h>
#include <heed/train/cli/seeds.h>
#include <heed/train/cli/session.h>
#include <heed/train/cli/threads.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace heed::cli {
namespace {

struct TrainArguments {
  std::string task, file, config;
  std::optional<std::string> threads, seeds;
  bool explain = false;
  SessionOptions options;
  std::map<std::string, std::string> flags;  // settings as they were typed
};

/// Of the tokenizers only byte pairs have a size to choose. Throws ValueError if it was chosen for
/// another one.
void require_use_of_vocabulary(const std::map<std::string, std::string>& flags,
                               const Settings& settings) {
  const auto tokenizer = settings.options.find(kTokenizer.name);
  if (tokenizer == settings.options.end() || tokenizer->second == "bpe") return;
  if (const auto asked = flags.find(std::string(kVocabulary.name)); asked != flags.end())
    throw ValueError(text("vocabulary = ", asked->second, " is for tokenizer = bpe; that of ",
                          tokenizer->second, " is what it is"));
}

/// Throws ValueError if rows are to be trained on without a share that is held out.
void require_rows_to_hold_out(const Settings& settings) {
  if (settings.task == "rows" && kRowsHeldOut.of(task_options(settings)) == 0)
    throw ValueError(
        text(kRowsHeldOut.name, " = 0: it must be above 0; the smallest share is one input"));
}

/// Defaults, then the task's recipe, then the config file, then the flags.
Settings resolve(const TrainArguments& arguments) {
  const std::string config = arguments.config.empty() ? "" : read_file(arguments.config);
  const std::string task =
      arguments.task.empty() ? task_in_config(config, arguments.config) : arguments.task;
  if (task.empty())
    throw ValueError("train what? " + command_name() + " tasks lists what can be learnt");
  Settings settings = settings_of(task);
  const double lowest = std::exchange(settings.min_lr, std::nan(""));  // until it is asked for
  apply_config(settings, config, arguments.config);
  if (!arguments.file.empty()) settings.file = arguments.file;
  for (const auto& [name, value] : arguments.flags) set(settings, name, value);
  require_use_of_vocabulary(arguments.flags, settings);
  require_rows_to_hold_out(settings);
  if (std::isnan(settings.min_lr)) settings.min_lr = std::min(lowest, settings.lr);
  validate(settings);
  return settings;
}

int train(const TrainArguments& arguments) {
  use_threads(arguments.threads);
  Settings settings = resolve(arguments);
  if (settings.file.empty() && find_task(settings.task).takes_file)
    throw ValueError(text("task ", settings.task, " needs a file: ", command_name(), " train ",
                          settings.task, " FILE"));
  if (!settings.file.empty()) {
    settings.file = std::filesystem::absolute(settings.file).string();
    if (first_invalid_byte(settings.file))
      throw ValueError(text("the name of ", settings.file,
                            " is not UTF-8, and a run could not keep it: give it another"));
  }
  TaskOptions of_task = task_options(settings);
  if (!settings.file.empty() && find_task(settings.task).takes_file) {
    of_task.content = read_file(settings.file);
    settings.fingerprint = fingerprint_of(*of_task.content);
  }
  const std::unique_ptr<Task> task = make_task(settings.task, of_task);
  if (arguments.explain) {
    explain(settings, *task);
    return kOk;
  }
  if (arguments.seeds)
    return run_seeds(settings, *task, arguments.options, parse_seeds(*arguments.seeds));
  return run_session(settings, *task, arguments.options).code;
}

std::string shown(const std::string& value) { return value.empty() ? "none" : value; }

/// The task that is named first: its defaults and options are those of --help.
const TaskInfo* task_among(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--out" || words[i] == "--config") {
      ++i;  // a name of a folder or file
      continue;
    }
    const auto found = std::ranges::find(tasks(), words[i], &TaskInfo::name);
    if (found != tasks().end()) return &*found;
  }
  return nullptr;
}

/// Its options or, if it stands in a config file, those of all tasks, each name once. Where it is
/// that of several, the task says what it is.
std::vector<TaskOption> options_for(const TaskInfo* task) {
  if (task) return task->options;
  std::vector<TaskOption> all;
  for (const TaskInfo& info : tasks())
    for (const TaskOption& option : info.options) {
      const auto known = std::ranges::find(all, option.name, &TaskOption::name);
      if (known == all.end()) {
        all.push_back(option);
      } else if (known->help != option.help || known->value != option.value) {
        known->help = "of several tasks";
        known->range = command_name() + " tasks TASK says what it is of one";
        known->value = "its own";
      }
    }
  return all;
}

}  // namespace

void add_train(CLI::App& program, Action& action, const std::vector<std::string>& words) {
  CLI::App* command =
      program.add_subcommand("train", "train a model on a task and watch its heads");
  command->footer("What is in brackets is the default: of the task if one is named, as in\n  " +
                  command_name() +
                  " train copy --help\n"
                  "A config file goes before it, and a flag before both.");
  const auto arguments = std::make_shared<TrainArguments>();
  command
      ->add_option("task", arguments->task, "what to learn; " + command_name() + " tasks lists all")
      ->type_name("TASK");
  command->add_option("file", arguments->file, "the text, for a task that takes one")
      ->type_name("FILE");
  const auto add = [&](const std::string& name, const std::string& group, const std::string& help,
                       const std::string& range, const std::string& otherwise) {
    command
        ->add_option_function<std::string>(
            "--" + name,
            [arguments, name](const std::string& value) { arguments->flags[name] = value; },
            fmt::format("{}: {} [{}]", help, range, otherwise))
        ->type_name("X")
        ->take_last()
        ->group(group);
  };
  const TaskInfo* named = task_among(words);
  for (const TaskOption& option : options_for(named))
    add(option.name, "Task", option.help, option.range, option.value);
  const Settings defaults = named ? settings_of(named->name) : Settings{};
  for (const Setting& setting : all_settings())
    add(setting.name, setting.group, setting.help, setting.range, shown(setting.get(defaults)));
  command
      ->add_option("--config", arguments->config, "read settings from this file, as a run has one")
      ->type_name("FILE");
  command
      ->add_option("--out", arguments->options.out,
                   "the folder in which the run gets its own [runs]")
      ->type_name("FOLDER");
  add_threads(*command, arguments->threads);
  command
      ->add_option("--seeds", arguments->seeds,
                   "train once with each of these seeds, as in 1,2,3, and print median and range")
      ->type_name("X,Y,...")
      ->excludes("--seed");
  command->add_flag("--watch", arguments->options.watch, "draw the heads while they learn");
  command->add_flag(
      "--detect-anomaly", arguments->options.detect_anomaly,
      "stop at the first value or gradient that is not finite, and name its op; slower");
  command->add_flag("--json", arguments->options.json, "results as JSON, one object a line");
  command
      ->add_flag("--explain", arguments->explain,
                 "print the ops and shapes of the first forward, the parameters and the "
                 "arithmetic of one row of attention; train and write nothing")
      ->excludes("--seeds", "--watch", "--detect-anomaly", "--json");
  command->callback([&action, arguments] { action = [arguments] { return train(*arguments); }; });
}

}  // namespace heed::cli
