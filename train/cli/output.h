#pragma once

#include <heed/autograd/error.h>
#include <heed/train/view/terminal.h>

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>

namespace heed::cli {

/// Exit codes of the program.
enum Exit : int {
  kOk = 0,
  kFailure = 1,  ///< an unwritable place, no memory
  kUsage = 2,    ///< an unknown name or value
  kBadData = 3,  ///< missing or bad data, run or checkpoint
  kWrong = 4,    ///< a check did not hold
  kDiverged = 5,
  kInterrupted = 130
};

/// Something could not be written, and the program is of no use.
class WriteError : public Error {
  using Error::Error;
};

/// What a person is told of an error that ended the program.
std::string reason_of(const std::exception& error);

/// One of the program's two outputs. Throws WriteError if results cannot be written; whether
/// anybody reads progress is no matter.
class Output {
 public:
  explicit Output(int descriptor) : descriptor_(descriptor) {}

  /// How it is at this moment: a terminal may change its size.
  Terminal terminal() const { return heed::terminal(descriptor_); }
  /// Writes text and an end of line. On a terminal, lines are wrapped to its width.
  void line(std::string_view content) const;
  /// The same without wrapping, for what is already as wide as it may be, or for programs.
  void raw(std::string_view content) const;
  /// The same, but nothing if it cannot be written: for what goes with an error that is thrown on.
  void raw_if_possible(std::string_view content) const;
  /// A command of this program to be typed, `arguments` behind its name: never broken, so that it
  /// can be copied from a terminal.
  void command(std::string_view arguments) const;
  /// What a model or a file says: on a terminal as `printable` makes it, elsewhere as it is.
  void quote(std::string_view content) const;
  void lines(const Lines& drawn) const;
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

inline const Output out(1);  ///< results
inline const Output err(2);  ///< progress and complaints

/// The text in lines of at most `width` characters, broken at spaces where there are any.
Lines wrap(std::string_view content, int width);

/// What to type to start this program: as it was called, or as the script that called it says.
std::string command_name();
void set_command_name(std::string_view called_as);

/// For a shell: in quotes if it has to be, with control characters as bash writes them, $'a\tb'.
std::string shell_word(std::string_view word);

/// What does nothing to a terminal: control characters as \x1b, \n or \t, but for those that are
/// `kept`, and bytes that are no UTF-8 as \xff.
std::string printable(std::string_view content, std::string_view kept = "\n\t");

/// 1 step, 2 steps
std::string counted(std::int64_t count, std::string_view thing);

/// 0:07, 12:34, 1:02:03
std::string duration(double seconds);

}  // namespace heed::cli
