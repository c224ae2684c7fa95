#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace heed::checks {
struct Subject;
}

namespace heed::cli {

/// What to do once the command line is read; returns the exit code.
using Action = std::function<int()>;

/// A flag whose value `range`, a Whole or a Real, reads.
template <class Range, class T>
void add_number(CLI::App& command, const std::string& flag, Range range, T& value,
                const std::string& help) {
  command
      .add_option_function<std::string>(
          flag, [=, &value](const std::string& written) { value = range.read(flag, written); },
          help)
      ->type_name("X");
}

/// Each adds a command to the program; if it is the one that was given, it sets `action`.
/// `words` are those of the command line: if one is a task, --help shows its defaults.
void add_train(CLI::App& program, Action& action, const std::vector<std::string>& words);
void add_sample(CLI::App& program, Action& action);
void add_eval(CLI::App& program, Action& action);
void add_export(CLI::App& program, Action& action);
void add_import(CLI::App& program, Action& action);
void add_tasks(CLI::App& program, Action& action);
/// `subjects()` are what can be checked.
void add_gradcheck(CLI::App& program, Action& action, std::vector<checks::Subject> (*subjects)());
void add_bench(CLI::App& program, Action& action);
void add_version(CLI::App& program, Action& action);

}  // namespace heed::cli
