#include <heed/autograd/error.h>
#include <heed/data/text/tokenizer.h>
#include <heed/data/text/utf8.h>

#include <set>
#include <utility>

namespace heed {
namespace {

// Those that can be printed, as far as one line holds them.
std::string listing(std::u32string_view characters) {
  constexpr std::size_t kMost = 80;
  std::u32string printed;
  for (const char32_t c : characters)
    if (describe_character(c).front() == '\'') printed += c;
  if (printed.size() <= kMost) return to_utf8(printed);
  return to_utf8(printed.substr(0, kMost)) + "...";
}

}  // namespace

void Tokenizer::require_id(std::int64_t id, std::size_t position) const {
  if (id < 0 || id >= size())
    throw IndexError(
        text("decode: id ", id, " at position ", position, " is outside [0, ", size(), ")"));
}

CharacterTokenizer::CharacterTokenizer(std::string_view characters)
    : CharacterTokenizer(to_code_points(characters)) {}

CharacterTokenizer::CharacterTokenizer(std::u32string characters)
    : characters_(std::move(characters)) {
  if (characters_.empty()) throw ValueError("vocabulary: it has no characters");
  for (const char32_t c : characters_)
    if (!ids_.emplace(c, std::ssize(ids_)).second)
      throw ValueError(text("vocabulary: ", describe_character(c), " comes twice"));
}

CharacterTokenizer CharacterTokenizer::of(std::string_view text) {
  require_utf8(text);
  std::set<char32_t> characters;
  while (!text.empty()) characters.insert(take_character(text));
  return CharacterTokenizer(std::u32string(characters.begin(), characters.end()));
}

std::string CharacterTokenizer::characters() const { return to_utf8(characters_); }

std::vector<std::int64_t> CharacterTokenizer::encode(std::string_view text) const {
  require_utf8(text);
  std::vector<std::int64_t> ids;
  ids.reserve(count_characters(text));
  while (!text.empty()) {
    const char32_t c = take_character(text);
    const auto found = ids_.find(c);
    if (found == ids_.end())
      throw ValueError(heed::text(describe_character(c), " at position ", ids.size(),
                                  " (the first is 0) is not in the vocabulary of ", size(),
                                  " characters: ", listing(characters_)));
    ids.push_back(found->second);
  }
  return ids;
}

std::string CharacterTokenizer::decode(std::span<const std::int64_t> ids) const {
  std::u32string text;
  for (const std::int64_t id : ids) {
    require_id(id, text.size());
    text += characters_[static_cast<std::size_t>(id)];
  }
  return to_utf8(text);
}

std::string CharacterTokenizer::save() const { return "characters:" + characters(); }

}  // namespace heed
