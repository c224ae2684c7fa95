#include <heed/train/cli/example_prompt.h>

#include <algorithm>
#include <sstream>

namespace heed::cli {

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
  if (longest.size() < task.decode(inputs).size()) return longest;
  const auto all = std::ranges::count_if(targets, [](auto id) { return id != kIgnore; });
  return task.decode(inputs.first(static_cast<std::size_t>(all) / 4 + 1));
}

}  // namespace heed::cli
