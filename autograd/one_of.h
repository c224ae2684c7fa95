#pragma once

#include <cstddef>
#include <iterator>
#include <ranges>
#include <string>

namespace heed {

/// Names for people: "pre, post or none".
template <std::ranges::forward_range Names>
std::string one_of(const Names& names) {
  const auto count = std::ranges::distance(names);
  std::string list;
  std::ptrdiff_t i = 0;
  for (const auto& name : names) {
    if (i > 0) list += i + 1 < count ? ", " : " or ";
    list += name;
    ++i;
  }
  return list;
}

}  // namespace heed
