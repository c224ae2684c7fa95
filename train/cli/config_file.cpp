#include <heed/train/cli/config_file.h>

#include <algorithm>
#include <utility>

namespace heed::cli {
namespace {

// What may be escaped in a string, and how.
constexpr std::string_view kEscaped = "\"\\\b\f\n\r\t", kLetters = "\"\\bfnrt";

bool is_bare(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-_.+").find(c) != std::string_view::npos;
}

/// One line, read from left to right.
class Line {
 public:
  Line(std::string_view line, std::string_view origin, int number)
      : rest_(line), origin_(origin), number_(number) {}

  void skip_spaces() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r"), rest_.size()));
  }
  bool at_end() const { return rest_.empty() || rest_.front() == '#'; }
  bool take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(bool found, std::string_view what) const {
    if (!found) throw ConfigError(text(origin_, ", line ", number_, ": expected ", what));
  }

  std::string bare(std::string_view what) {
    const auto end = std::ranges::find_if_not(rest_, is_bare);
    std::string word(rest_.begin(), end);
    expect(!word.empty(), what);
    rest_.remove_prefix(word.size());
    return word;
  }

  std::string value() {
    const bool escapes = rest_.starts_with('"');
    if (!escapes && !rest_.starts_with('\'')) return bare("a value");
    const char quote = rest_.front();
    rest_.remove_prefix(1);
    std::string value;
    while (!take(quote)) {
      expect(!rest_.empty(), text("a ", quote, " at the end of the string"));
      const bool escaped = escapes && take('\\');
      value += escaped ? escape() : rest_.front();
      if (!escaped) rest_.remove_prefix(1);
    }
    return value;
  }

 private:
  /// What stands after a backslash.
  char escape() {
    const std::size_t i = rest_.empty() ? std::string_view::npos : kLetters.find(rest_.front());
    expect(i != std::string_view::npos, "one of \\\" \\\\ \\b \\f \\n \\r \\t");
    rest_.remove_prefix(1);
    return kEscaped[i];
  }

  std::string_view rest_, origin_;
  int number_;
};

}  // namespace

std::vector<ConfigEntry> parse_config(std::string_view config, std::string_view origin) {
  std::vector<ConfigEntry> entries;
  std::string section;
  for (int number = 1; !config.empty(); ++number) {
    const std::size_t length = std::min(config.find('\n'), config.size());
    Line line(config.substr(0, length), origin, number);
    config.remove_prefix(std::min(length + 1, config.size()));
    line.skip_spaces();
    if (line.at_end()) continue;
    if (line.take('[')) {
      section = line.bare("the name of a section");
      line.expect(line.take(']'), "]");
    } else {
      ConfigEntry entry{section, line.bare("key = value"), {}, number};
      line.skip_spaces();
      line.expect(line.take('='), "= after the key");
      line.skip_spaces();
      entry.value = line.value();
      entries.push_back(std::move(entry));
    }
    line.skip_spaces();
    line.expect(line.at_end(), "the end of the line");
  }
  return entries;
}

std::string toml_string(std::string_view value) {
  std::string quoted = "\"";
  for (char c : value) {
    const std::size_t i = kEscaped.find(c);
    quoted += i == std::string_view::npos ? std::string(1, c) : std::string{'\\', kLetters[i]};
  }
  return quoted + "\"";
}

}  // namespace heed::cli
