#pragma once

#include <heed/autograd/error.h>
#include <heed/autograd/one_of.h>

#include <array>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

/// Choices among a few: an enum, `name(choice)` for each of its values, and an array of them all.
namespace heed {

/// As on the command line.
template <class Choice, std::size_t N>
std::vector<std::string> names_of(const std::array<Choice, N>& all) {
  std::vector<std::string> names;
  for (const Choice choice : all) names.emplace_back(name(choice));
  return names;
}

/// The choice of that name. Throws ValueError with the field, what was given and what it may be.
template <class Choice, std::size_t N>
Choice named(std::string_view field, std::string_view wanted, const std::array<Choice, N>& all) {
  for (const Choice choice : all)
    if (name(choice) == wanted) return choice;
  throw ValueError(text(field, " = ", wanted, ": it must be ", one_of(names_of(all))));
}

namespace detail {

/// The name of an enum's value among all its names, in their order. Throws ValueError with the
/// field for a number that is none of them.
template <class Choice>
std::string_view name_among(std::string_view field, Choice choice,
                            std::initializer_list<std::string_view> names) {
  const auto i = static_cast<std::size_t>(choice);
  if (i >= names.size()) throw ValueError(text(field, ": there is none with number ", i));
  return names.begin()[i];
}

}  // namespace detail
}  // namespace heed
