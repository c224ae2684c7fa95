#include <heed/autograd/error.h>
#include <heed/data/registry.h>
#include <heed/data/suggest.h>
#include <heed/data/tasks/copy.h>
#include <heed/data/tasks/rows.h>
#include <heed/data/tasks/tasks.h>
#include <heed/data/tasks/text.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace heed {
namespace {

// A deque: what find_task() returned stays where it is when another task is registered.
std::deque<TaskInfo>& registry() {
  static std::deque<TaskInfo> infos = {
      copy_task(),      reverse_task(), sort_task(),      addition_task(), modular_task(),
      induction_task(), markov_task(),  trigger_task(),   recall_task(),   selective_copy_task(),
      dyck_task(),      parity_task(),  agreement_task(), text_task(),     rows_task()};
  return infos;
}

// What a flag or a config file sets besides the options of a task.
constexpr std::string_view kTaken[] = {
    // the model
    "layers", "heads", "d-model", "d-ff", "context", "dropout", "kv-heads", "positions", "norm",
    "norm-kind", "activation", "scale", "mask", "tied",
    // the training
    "steps", "batch", "accumulate", "optimizer", "lr", "min-lr", "schedule", "period", "factor",
    "warmup", "weight-decay", "decays", "groups", "momentum", "beta1", "beta2", "clip", "ema",
    "eval-every", "overfit", "seed",
    // and what surrounds it
    "task", "file", "config", "out", "threads", "seeds", "watch", "detect-anomaly", "json",
    "explain", "help"};

/// Throws ValueError unless each has a name of its own.
void require_own_names(const TaskInfo& info) {
  std::set<std::string_view> known;
  for (const TaskOption& option : info.options) {
    const auto refuse = [&](const std::string& why) {
      throw ValueError(text("register_task: ", info.name, ": an option ", why));
    };
    if (option.name.empty()) refuse("has no name");
    if (std::ranges::find(kTaken, option.name) != std::end(kTaken))
      refuse(text("is called ", option.name, ", as a flag or setting of heed is"));
    if (!known.insert(option.name).second) refuse(text("comes twice: ", option.name));
  }
}

}  // namespace

const std::deque<TaskInfo>& tasks() { return registry(); }

const TaskInfo& find_task(std::string_view name) {
  const auto found = std::ranges::find(tasks(), name, &TaskInfo::name);
  if (found != tasks().end()) return *found;
  std::vector<std::string> names;
  for (const TaskInfo& info : tasks()) names.push_back(info.name);
  throw ValueError(unknown_name("task", name, names));
}

const TaskOption& find_option(const TaskInfo& info, std::string_view name) {
  const auto found = std::ranges::find(info.options, name, &TaskOption::name);
  if (found != info.options.end()) return *found;
  if (info.options.empty())
    throw ValueError(text("task ", info.name, ": it has no options, but got ", name));
  std::vector<std::string> names;
  for (const TaskOption& option : info.options) names.push_back(option.name);
  throw ValueError(unknown_name("option of " + info.name, name, names));
}

void register_task(TaskInfo info) {
  if (info.name.empty()) throw ValueError("register_task: the task has no name");
  if (!info.make) throw ValueError(text("register_task: ", info.name, " has no `make`"));
  if (std::ranges::find(tasks(), info.name, &TaskInfo::name) != tasks().end())
    throw ValueError(text("register_task: there is a task \"", info.name, "\" already"));
  require_own_names(info);
  registry().push_back(std::move(info));
}

std::unique_ptr<Task> make_task(std::string_view name, const TaskOptions& options) {
  const TaskInfo& info = find_task(name);
  if (info.takes_file && options.file.empty())
    throw ValueError(text("task ", name, ": it needs a file: heed train ", name, " FILE"));
  if (!info.takes_file && !options.file.empty())
    throw ValueError(text("task ", name, ": it takes no file, but got ", options.file));
  for (const auto& [option, value] : options.chosen) find_option(info, option).read(value);
  return info.make(options);
}

}  // namespace heed
