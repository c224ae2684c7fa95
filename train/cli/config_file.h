#pragma once

#include <heed/autograd/error.h>

#include <string>
#include <string_view>
#include <vector>

namespace heed::cli {

/// What is wrong in a config file: its name, the line, and the key as it stands there.
class ConfigError : public ValueError {
  using ValueError::ValueError;
};

/// One `key = value` of a config file.
struct ConfigEntry {
  std::string section;  ///< the [section] it stands in; empty at the top
  std::string key;
  std::string value;  ///< without its quotes
  int line = 0;
};

/// Reads the part of TOML that config files use: sections, comments, and bare keys with a string in
/// quotes or a bare number or word. Throws ConfigError naming origin and line for anything else, so
/// that nothing in a file is silently passed over. (CLI11's reader takes any line, and loses what
/// follows a # within quotes.)
std::vector<ConfigEntry> parse_config(std::string_view text, std::string_view origin);

/// The string in TOML's double quotes.
std::string toml_string(std::string_view value);

}  // namespace heed::cli
