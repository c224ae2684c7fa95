#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace heed::cli {

/// --layers, --heads, ...: all flags that a command has.
std::vector<std::string> flags_of(const CLI::App& command);

/// Messages name a setting as its field or key: d_model = 5. The same with each setting of which
/// the command has a flag named as it is typed: --d-model = 5.
std::string with_flags(std::string_view message, const CLI::App& command);

/// Lets no flag of the program's commands take the flag behind it for its value: with --steps --lr
/// 1 among the `words` of the command line, parsing throws a CLI::ValidationError that says what
/// --steps lacks. So it does where the next word is nearly a flag, or -- alone. What is written
/// with =, as in --prompt=--lr, is meant.
void refuse_flags_as_values(CLI::App& program, const std::vector<std::string>& words);

}  // namespace heed::cli
