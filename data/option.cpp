#include <heed/autograd/error.h>
#include <heed/autograd/one_of.h>
#include <heed/data/option.h>
#include <heed/data/suggest.h>

#include <algorithm>
#include <vector>

namespace heed {
namespace {

std::vector<std::string_view> split(std::string_view words) {
  std::vector<std::string_view> each;
  while (!words.empty()) {
    const std::size_t length = std::min(words.find(' '), words.size());
    each.push_back(words.substr(0, length));
    words.remove_prefix(std::min(length + 1, words.size()));
  }
  return each;
}

}  // namespace

std::string Choice::range() const { return one_of(split(words)); }

std::string_view Choice::read(std::string_view name, std::string_view written) const {
  const std::vector<std::string_view> each = split(words);
  if (const auto found = std::ranges::find(each, written); found != each.end()) return *found;
  throw ValueError(
      unknown_choice(name, written, range(), std::vector<std::string>{each.begin(), each.end()}));
}

std::string written(std::string_view value) { return std::string(value); }

}  // namespace heed
