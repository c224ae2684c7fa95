#include <fnmatch.h>
#include <heed/autograd/error.h>
#include <heed/train/optimizers/groups.h>

#include <charconv>
#include <cmath>
#include <set>
#include <string>
#include <utility>

namespace heed {
namespace {

std::vector<std::string_view> split(std::string_view all, char at) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = all.find(at);
    if (const std::string_view part = all.substr(0, end);
        part.find_first_not_of(' ') != std::string_view::npos)
      parts.push_back(part);
    if (end == std::string_view::npos) return parts;
    all.remove_prefix(end + 1);
  }
}

[[noreturn]] void refuse(std::string_view group, std::string_view reason) {
  throw ValueError(text("groups = \"", group, "\": ", reason,
                        "; a group is a pattern and lr=X or decay=X, as in *.bias lr=2 decay=0"));
}

double number(std::string_view group, std::string_view written) {
  double value = 0;
  const char* end = written.data() + written.size();
  const auto [stop, error] = std::from_chars(written.data(), end, value);
  if (error != std::errc() || stop != end || !(value >= 0 && std::isfinite(value)))
    refuse(group, text("\"", written, "\" is no finite number of at least 0"));
  return value;
}

ParameterGroup parse_group(std::string_view written) {
  const std::vector<std::string_view> words = split(written, ' ');
  if (words.size() < 2) refuse(written, "it says nothing of the parameters");
  if (words[0].find('=') != std::string_view::npos) refuse(written, "it has no pattern");
  const std::string pattern(words[0]);
  ParameterGroup group{.holds =
                           [pattern](const NamedTensor& parameter) {
                             return ::fnmatch(pattern.c_str(), parameter.name.c_str(),
                                              FNM_NOESCAPE) == 0;
                           },
                       .pattern = pattern};
  std::set<std::string_view> given;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string_view key = words[i].substr(0, words[i].find('='));
    if (key.size() == words[i].size()) refuse(written, text("\"", key, "\" has no ="));
    if (!given.insert(key).second) refuse(written, text("\"", key, "\" is given twice"));
    const double value = number(written, words[i].substr(key.size() + 1));
    if (key == "lr")
      group.lr = value;
    else if (key == "decay")
      group.weight_decay = value;
    else
      refuse(written, text("\"", key, "\" is neither lr nor decay"));
  }
  return group;
}

}  // namespace

ParameterGroups parse_groups(std::string_view written) {
  ParameterGroups groups;
  for (const std::string_view group : split(written, ';')) groups.push_back(parse_group(group));
  return groups;
}

}  // namespace heed
