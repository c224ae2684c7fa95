#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace heed {

/// Where the first byte stands that makes `bytes` no UTF-8; none if they are.
std::optional<std::size_t> first_invalid_byte(std::string_view bytes);

/// Throws ValueError with the offset of the first invalid byte, if there is one.
void require_utf8(std::string_view bytes);

/// How many characters valid UTF-8 has.
std::size_t count_characters(std::string_view utf8);

/// Cuts the first character off valid UTF-8 that has one.
char32_t take_character(std::string_view& utf8);

/// UTF-8 as code points. Throws ValueError with the offset of the first invalid byte.
std::u32string to_code_points(std::string_view utf8);

/// Code points as UTF-8. Throws ValueError on a surrogate or a value above U+10FFFF.
std::string to_utf8(std::u32string_view code_points);

/// A character as an error shows it: 'e' (U+0065), or U+000A alone if it cannot be printed.
std::string describe_character(char32_t character);

}  // namespace heed
