#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heed {

/// How a program is started.
struct Start {
  std::filesystem::path folder = {};  ///< where; here unless given
  /// Set, or (empty) unset, besides TERM, COLORTERM, NO_COLOR, COLUMNS, LINES and HEED_COMMAND,
  /// which are unset.
  std::vector<std::pair<std::string, std::string>> environment = {};
  int terminal_width = -1;  ///< if not negative, stderr is a terminal of that width
  int terminal_height = 24;
};

/// What a program left.
struct Outcome {
  int code = -1;  ///< its exit code; minus the signal that killed it
  std::string out;
  std::string err;  ///< or what came to its terminal
};

/// A running heed.
class Process {
 public:
  explicit Process(const std::vector<std::string>& arguments, const Start& start = {});
  /// Kills it if it still runs.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void signal(int number) const;
  /// Reads until stderr holds the text; false if it ended without.
  bool wait_for(std::string_view text);
  /// Reads to the end.
  Outcome finish();

 private:
  /// Reads what there is; false at the end of both.
  bool read_some();

  pid_t child_ = -1;
  int out_ = -1, err_ = -1;
  Outcome outcome_;
};

/// Starts heed and waits for its end.
Outcome run_heed(const std::vector<std::string>& arguments, const Start& start = {});

/// What heed writes with its output on a terminal of so many columns. Throws unless it ends well.
std::vector<std::string> on_a_terminal(int columns, std::vector<std::string> arguments,
                                       const char* term = "xterm-256color");

/// Lines without their ends; a last empty one does not count.
std::vector<std::string> lines_of(std::string_view text);

}  // namespace heed
