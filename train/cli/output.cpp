#include <heed/data/text/utf8.h>
#include <heed/train/cli/output.h>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <new>

namespace heed::cli {
namespace {

std::string& name_of_command() {
  static std::string name = "heed";
  return name;
}

/// How many bytes the first `count` characters of UTF-8 have.
std::size_t bytes_of(std::string_view text, int count) {
  std::size_t i = 0;
  for (; i < text.size(); ++i)
    if ((text[i] & 0xC0) != 0x80 && count-- == 0) break;
  return i;
}

bool is_control(char32_t c) { return c < 0x20 || (0x7f <= c && c < 0xa0); }

/// A control character as shells and people write it.
std::string escaped(char32_t c) {
  if (c == '\n') return "\\n";
  if (c == '\t') return "\\t";
  return fmt::format("\\x{:02x}", static_cast<std::uint32_t>(c));
}

}  // namespace

std::string reason_of(const std::exception& error) {
  const bool memory = dynamic_cast<const std::bad_alloc*>(&error);
  return memory ? "there is not enough memory; try a smaller model or batch" : error.what();
}

void Output::line(std::string_view content) const {
  const Terminal now = terminal();
  if (now.interactive)
    lines(wrap(content, now.width));
  else
    raw(content);
}

void Output::raw(std::string_view content) const {
  const std::string bytes = std::string(content) + "\n";
  for (std::string_view rest = bytes; !rest.empty();) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno != EINTR) {
      if (descriptor_ != STDOUT_FILENO) return;
      throw WriteError(text("cannot write the results: ", std::strerror(errno)));
    }
    if (written > 0) rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

void Output::raw_if_possible(std::string_view content) const {
  try {
    raw(content);
  } catch (const WriteError&) {
  }
}

void Output::command(std::string_view arguments) const {
  raw("  " + command_name() + " " + std::string(arguments));
}

void Output::quote(std::string_view content) const {
  line(::isatty(descriptor_) == 1 ? printable(content) : content);
}

void Output::lines(const Lines& drawn) const {
  for (const std::string& line : drawn) raw(line);
}

Lines wrap(std::string_view content, int width) {
  Lines lines;
  while (true) {
    const std::size_t end = std::min(content.find('\n'), content.size());
    const std::size_t fits = bytes_of(content.substr(0, end), std::max(width, 1));
    const std::size_t space = content.substr(0, fits + 1).rfind(' ');
    const bool whole = fits == end;
    const std::size_t cut = whole || space == std::string_view::npos || space == 0 ? fits : space;
    lines.emplace_back(content.substr(0, cut));
    if (whole && end == content.size()) return lines;
    content.remove_prefix(whole || cut == space ? cut + 1 : cut);
  }
}

std::string command_name() { return name_of_command(); }

void set_command_name(std::string_view called_as) {
  const char* told = std::getenv("HEED_COMMAND");
  name_of_command() = shell_word(told && *told ? std::string_view(told) : called_as);
}

std::string shell_word(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./+:,=@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos)
    return std::string(word);
  const auto is_escaped = [](char c) { return (c & 0x80) == 0 && is_control(char32_t(c)); };
  if (std::ranges::none_of(word, is_escaped)) {
    std::string quoted = "'";
    for (char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
    return quoted + "'";
  }
  std::string quoted = "$'";
  for (char c : word)
    if (is_escaped(c))
      quoted += escaped(char32_t(c));
    else
      quoted += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return quoted + "'";
}

std::string printable(std::string_view content, std::string_view kept) {
  std::string shown;
  while (!content.empty()) {
    const std::size_t valid = first_invalid_byte(content).value_or(content.size());
    for (const char32_t c : to_code_points(content.substr(0, valid))) {
      const bool is_kept = c < 0x80 && kept.find(static_cast<char>(c)) != std::string_view::npos;
      shown += is_control(c) && !is_kept ? escaped(c) : to_utf8({&c, 1});
    }
    content.remove_prefix(valid);
    if (content.empty()) break;
    shown += escaped(static_cast<unsigned char>(content.front()));
    content.remove_prefix(1);
  }
  return shown;
}

std::string counted(std::int64_t count, std::string_view thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

std::string duration(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::ceil(std::max(seconds, 0.)));
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

}  // namespace heed::cli
