#include <heed/autograd/error.h>
#include <heed/data/text/utf8.h>
#include <utf8.h>

#include <algorithm>
#include <iomanip>
#include <iterator>

namespace heed {

std::optional<std::size_t> first_invalid_byte(std::string_view bytes) {
  const auto invalid = utf8::find_invalid(bytes.begin(), bytes.end());
  if (invalid == bytes.end()) return std::nullopt;
  return static_cast<std::size_t>(invalid - bytes.begin());
}

void require_utf8(std::string_view bytes) {
  if (const auto offset = first_invalid_byte(bytes))
    throw ValueError(text("not UTF-8: the byte at offset ", *offset, " is not valid"));
}

std::size_t count_characters(std::string_view utf8) {
  const auto continues = std::ranges::count_if(utf8, [](char c) { return (c & 0xC0) == 0x80; });
  return utf8.size() - static_cast<std::size_t>(continues);
}

char32_t take_character(std::string_view& utf8) {
  auto rest = utf8.begin();
  const char32_t character = utf8::unchecked::next(rest);
  utf8.remove_prefix(static_cast<std::size_t>(rest - utf8.begin()));
  return character;
}

std::u32string to_code_points(std::string_view utf8) {
  require_utf8(utf8);
  std::u32string code_points;
  utf8::unchecked::utf8to32(utf8.begin(), utf8.end(), std::back_inserter(code_points));
  return code_points;
}

std::string to_utf8(std::u32string_view code_points) {
  std::string bytes;
  for (const char32_t c : code_points) {
    try {
      utf8::append(c, std::back_inserter(bytes));
    } catch (const utf8::invalid_code_point&) {
      throw ValueError(text(describe_character(c), " is not a character"));
    }
  }
  return bytes;
}

std::string describe_character(char32_t character) {
  std::ostringstream name;
  name << "U+" << std::hex << std::uppercase << std::setw(4) << std::setfill('0')
       << static_cast<std::uint32_t>(character);
  const bool control = character < 0x20 || (0x7f <= character && character < 0xa0);
  const bool surrogate = 0xd800 <= character && character < 0xe000;
  if (control || surrogate || character > 0x10ffff) return std::move(name).str();
  return text("'", to_utf8({&character, 1}), "' (", name.str(), ")");
}

}  // namespace heed
