#include <gmock/gmock.h>
#include <heed/train/train.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pseudo_terminal.h"

namespace heed {
namespace {

/// Variables of the environment, until the scope ends.
class Environment {
 public:
  using Variables = std::vector<std::pair<std::string, std::string>>;

  explicit Environment(const Variables& values) {
    for (const char* name : {"TERM", "COLORTERM", "NO_COLOR", "COLUMNS", "LINES"}) {
      const char* value = std::getenv(name);
      before_[name] = value ? std::optional<std::string>(value) : std::nullopt;
      ::unsetenv(name);
    }
    for (const auto& [name, value] : values) ::setenv(name.c_str(), value.c_str(), 1);
  }
  ~Environment() {
    for (const auto& [name, value] : before_)
      value ? ::setenv(name.c_str(), value->c_str(), 1) : ::unsetenv(name.c_str());
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  std::map<std::string, std::optional<std::string>> before_;
};

/// Both ends of a pseudo-terminal of a given size.
class Pty {
 public:
  Pty(unsigned short width, unsigned short height) {
    winsize size{height, width, 0, 0};
    EXPECT_EQ(::openpty(&outer_, &inner_, nullptr, nullptr, &size), 0);
  }
  ~Pty() {
    ::close(inner_);
    ::close(outer_);
  }
  Pty(const Pty&) = delete;
  Pty& operator=(const Pty&) = delete;

  int inner() const { return inner_; }
  /// What was written, as the terminal gets it.
  std::string read() const {
    std::array<char, 4096> buffer{};
    return {buffer.data(), static_cast<std::size_t>(::read(outer_, buffer.data(), buffer.size()))};
  }

 private:
  int outer_ = -1, inner_ = -1;
};

TEST(Terminal, HasTheSizeThatItSays) {
  if (!has_pseudo_terminals()) GTEST_SKIP() << kNoPseudoTerminals;
  const Environment environment(Environment::Variables{{"TERM", "xterm"}, {"COLUMNS", "33"}});
  const Pty pty(101, 37);
  const Terminal found = terminal(pty.inner());
  EXPECT_TRUE(found.interactive);
  EXPECT_EQ(found.width, 101);
  EXPECT_EQ(found.height, 37);
  EXPECT_EQ(found.room().height, 36);
}

TEST(Terminal, OfUnknownSizeIsAskedOfTheEnvironment) {
  if (!has_pseudo_terminals()) GTEST_SKIP() << kNoPseudoTerminals;
  const Pty pty(0, 0);
  {
    const Environment environment(
        Environment::Variables{{"TERM", "xterm"}, {"COLUMNS", "33"}, {"LINES", "x"}});
    EXPECT_EQ(terminal(pty.inner()).width, 33);
    EXPECT_EQ(terminal(pty.inner()).height, 24);
  }
  const Environment environment(Environment::Variables{{"TERM", "xterm"}, {"COLUMNS", "0"}});
  EXPECT_EQ(terminal(pty.inner()).width, 80);
}

TEST(Terminal, HasTheColorsThatTheEnvironmentNames) {
  if (!has_pseudo_terminals()) GTEST_SKIP() << kNoPseudoTerminals;
  const Pty pty(80, 24);
  const auto color = [&](const Environment::Variables& values) {
    const Environment environment(values);
    return terminal(pty.inner()).color;
  };
  EXPECT_EQ(color({{"TERM", "xterm-256color"}}), ColorDepth::palette);
  EXPECT_EQ(color({{"TERM", "xterm"}, {"COLORTERM", "truecolor"}}), ColorDepth::full);
  EXPECT_EQ(color({{"TERM", "xterm-direct"}}), ColorDepth::full);
  EXPECT_EQ(color({{"TERM", "xterm"}, {"COLORTERM", "truecolor"}, {"NO_COLOR", "1"}}),
            ColorDepth::none);
  EXPECT_EQ(color({{"TERM", "xterm"}, {"NO_COLOR", ""}}), ColorDepth::palette);
  EXPECT_EQ(color({{"TERM", "dumb"}, {"COLORTERM", "truecolor"}}), ColorDepth::none);
  EXPECT_EQ(color({}), ColorDepth::none);
}

TEST(Terminal, IsNotDrawnOverIfDumbOrNone) {
  if (!has_pseudo_terminals()) GTEST_SKIP() << kNoPseudoTerminals;
  const Pty pty(80, 24);
  {
    const Environment environment(Environment::Variables{{"TERM", "dumb"}});
    EXPECT_FALSE(terminal(pty.inner()).interactive);
  }
  const Environment environment(
      Environment::Variables{{"TERM", "xterm"}, {"COLORTERM", "truecolor"}});
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const Terminal found = terminal(ends[1]);
  EXPECT_FALSE(found.interactive);
  EXPECT_EQ(found.color, ColorDepth::none);
  for (int end : ends) ::close(end);
}

TEST(LiveLines, AreDrawnOverThemselves) {
  if (!has_pseudo_terminals()) GTEST_SKIP() << kNoPseudoTerminals;
  const Pty pty(80, 24);
  LiveLines lines(pty.inner());
  lines.draw({"one", "two"});
  EXPECT_EQ(pty.read(), "one\x1b[K\r\ntwo\x1b[K\r\n\x1b[J");
  lines.draw({"three"});
  EXPECT_EQ(pty.read(), "\x1b[2A\rthree\x1b[K\r\n\x1b[J");
  lines.erase();
  EXPECT_EQ(pty.read(), "\x1b[1A\r\x1b[J");
  lines.draw({"four"});
  EXPECT_EQ(pty.read(), "four\x1b[K\r\n\x1b[J");
  lines.keep();
  lines.draw({"five"});
  EXPECT_EQ(pty.read(), "five\x1b[K\r\n\x1b[J");
}

}  // namespace
}  // namespace heed
