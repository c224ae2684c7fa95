#pragma once

#include <heed/data/numbers.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace heed {

/// What a user may set of a task; what is not set, the task chooses.
struct TaskOptions {
  std::string file = {};                     ///< the text or the rows, for tasks that take a file
  std::optional<std::int64_t> context = {};  ///< T
  std::uint64_t seed = 0;                    ///< of the held-out rows
  /// The options that the task lists of its own, by name, as they are written: {"alphabet", "8"}.
  std::map<std::string, std::string, std::less<>> chosen = {};
  std::optional<std::string> content = {};  ///< of the file, if it is not to be read
  /// A tokenizer as it was saved, of a model that is there already; else one is made of the file.
  std::string tokenizer = {};
  bool all_held_out = false;  ///< nothing of the file is for training
};

/// The words that an option takes, with spaces between them.
struct Choice {
  std::string_view words;

  /// plain or reversed
  std::string range() const;
  /// Throws ValueError with `name`, what was written, and what it may be.
  std::string_view read(std::string_view name, std::string_view written) const;
};

std::string written(std::string_view value);

/// An option of a task: --fraction 0.4 on the command line, fraction = 0.4 in a config file. A task
/// declares it once, lists it in its TaskInfo, and reads it from the options it is made with:
///
///     constexpr Option<Whole> kAlphabet{"alphabet", "letters to draw from", {2, 62}, 16};
///     const std::int64_t alphabet = kAlphabet.of(options);
template <class Range>
struct Option {
  using Value = decltype(std::declval<const Range&>().read("", ""));

  std::string_view name, help;
  Range range;
  Value value;  ///< unless another is chosen

  /// Throws ValueError if what was chosen is outside the range.
  Value of(const TaskOptions& options) const {
    const auto found = options.chosen.find(name);
    return found == options.chosen.end() ? value : range.read(name, found->second);
  }
};

/// Any of them, as it is listed.
struct TaskOption {
  std::string name;   ///< fraction
  std::string help;   ///< what it is
  std::string range;  ///< what it may be
  std::string value;  ///< unless another is chosen
  bool quoted;        ///< a string in a config file
  /// The value in its shortest form. Throws ValueError if it is outside the range.
  std::function<std::string(std::string_view)> read;

  template <class Range>
  TaskOption(const Option<Range>& option)  // NOLINT: a list of options names them as they are
      : name(option.name),
        help(option.help),
        range(option.range.range()),
        value(written(option.value)),
        quoted(std::is_same_v<Range, Choice>),
        read([option](std::string_view chosen) {
          return written(option.range.read(option.name, chosen));
        }) {}
};

}  // namespace heed
