#pragma once

#include <string_view>

namespace heed {

/// Columns that a line of UTF-8 takes, its escape sequences aside. All characters heed draws with
/// are one column wide.
inline int columns_of(std::string_view line) {
  int columns = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\x1b')
      i = line.find_first_of("ABCDHJKm", i);
    else
      columns += line[i] != '\r' && (line[i] & 0xC0) != 0x80;
  }
  return columns;
}

}  // namespace heed
