#include <heed/train/view/terminal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace heed {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// The first that is above 0.
int first_known(int a, int b, int c) { return a > 0 ? a : b > 0 ? b : c; }

int number(std::string_view text) {
  int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

ColorDepth color_depth(std::string_view term) {
  if (!environment("NO_COLOR").empty()) return ColorDepth::none;
  const std::string_view color = environment("COLORTERM");
  return color == "truecolor" || color == "24bit" || term.ends_with("-direct")
             ? ColorDepth::full
             : ColorDepth::palette;
}

void write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) return;  // a drawing nobody can see is no error
    if (written > 0) bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

Terminal terminal(int descriptor) {
  Terminal found;
  const std::string_view term = environment("TERM");
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0) size = {};
  found.width = first_known(size.ws_col, number(environment("COLUMNS")), found.width);
  found.height = first_known(size.ws_row, number(environment("LINES")), found.height);
  found.interactive = ::isatty(descriptor) == 1 && !term.empty() && term != "dumb";
  if (found.interactive) found.color = color_depth(term);
  return found;
}

void LiveLines::draw(const Lines& lines) {
  if (lines.empty() && drawn_ == 0) return;
  std::string frame;
  if (drawn_ > 0) frame = "\x1b[" + std::to_string(drawn_) + "A\r";
  for (const std::string& line : lines) frame += line + "\x1b[K\n";
  frame += "\x1b[J";
  write_all(descriptor_, frame);
  drawn_ = lines.size();
}

}  // namespace heed
