#include <heed/autograd/error.h>
#include <heed/data/suggest.h>

#include <algorithm>
#include <vector>

namespace heed {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // rows[i][j]: from the first i letters of a to the first j of b.
  std::vector<std::vector<std::size_t>> rows(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      std::size_t& least = rows[i][j];
      if (i == 0 || j == 0) {
        least = i + j;
        continue;
      }
      const std::size_t replaced = rows[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
      least = std::min({replaced, rows[i - 1][j] + 1, rows[i][j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        least = std::min(least, rows[i - 2][j - 2] + 1);
    }
  }
  return rows[a.size()][b.size()];
}

namespace {

std::string in_small_letters(std::string_view word) {
  std::string small(word);
  for (char& c : small)
    if ('A' <= c && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return small;
}

}  // namespace

std::optional<std::string> nearest_name(std::string_view word, std::span<const std::string> known) {
  std::optional<std::string> nearest;
  std::size_t least = 0;
  for (const std::string& name : known) {
    const auto [shorter, longer] = std::minmax({word.size(), name.size()});
    if (3 * (longer - shorter) > longer) continue;  // too far by their lengths alone
    const std::size_t distance = edit_distance(in_small_letters(word), in_small_letters(name));
    if (3 * distance <= longer && (!nearest || distance < least)) {
      nearest = name;
      least = distance;
    }
  }
  return nearest;
}

namespace {

/// Nothing, if no name is near.
std::string did_you_mean(std::string_view word, std::span<const std::string> known) {
  const auto name = nearest_name(word, known);
  return name ? "; did you mean \"" + *name + "\"?" : "";
}

}  // namespace

std::string unknown_name(std::string_view kind, std::string_view word,
                         std::span<const std::string> known) {
  std::string sentence = text("unknown ", kind, " \"", word, "\"");
  if (const std::string meant = did_you_mean(word, known); !meant.empty()) return sentence + meant;
  sentence += "; known are:";
  for (const std::string& name : known) sentence += (&name == &known.front() ? " " : ", ") + name;
  return sentence;
}

std::string unknown_choice(std::string_view name, std::string_view written, std::string_view range,
                           std::span<const std::string> known) {
  return text(name, " = ", written, ": it must be ", range, did_you_mean(written, known));
}

}  // namespace heed
