#include <heed/autograd/error.h>
#include <heed/data/registry.h>
#include <heed/data/suggest.h>
#include <heed/data/tasks/copy.h>
#include <heed/data/tasks/text.h>

#include <algorithm>
#include <utility>

namespace heed {
namespace {

// A deque: what find_task() returned stays where it is when another task is registered.
std::deque<TaskInfo>& registry() {
  static std::deque<TaskInfo> infos = {copy_task(), text_task()};
  return infos;
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

void register_task(TaskInfo info) {
  if (info.name.empty()) throw ValueError("register_task: the task has no name");
  if (!info.make) throw ValueError(text("register_task: ", info.name, " has no `make`"));
  if (std::ranges::find(tasks(), info.name, &TaskInfo::name) != tasks().end())
    throw ValueError(text("register_task: there is a task \"", info.name, "\" already"));
  registry().push_back(std::move(info));
}

std::unique_ptr<Task> make_task(std::string_view name, const TaskOptions& options) {
  const TaskInfo& info = find_task(name);
  if (info.takes_file && options.file.empty())
    throw ValueError(text("task ", name, ": it needs a file: heed train ", name, " FILE"));
  if (!info.takes_file && !options.file.empty())
    throw ValueError(text("task ", name, ": it takes no file, but got ", options.file));
  return info.make(options);
}

}  // namespace heed
