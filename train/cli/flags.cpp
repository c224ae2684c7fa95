#include <heed/autograd/error.h>
#include <heed/data/suggest.h>
#include <heed/train/cli/flags.h>

#include <algorithm>
#include <array>
#include <optional>

namespace heed::cli {
namespace {

bool is_of_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

/// The name at the end of a text; empty if it is a value, or a part of something else.
std::string_view last_name(std::string_view text) {
  std::size_t start = text.size();
  while (start > 0 && is_of_name(text[start - 1])) --start;
  const std::string_view before = text.substr(0, start);
  const bool stands_alone = before.empty() || before.ends_with(' ');
  const bool is_part = before.ends_with("= ") || before.ends_with("/ ");
  return stands_alone && !is_part ? text.substr(start) : std::string_view();
}

}  // namespace

std::vector<std::string> flags_of(const CLI::App& command) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  return flags;
}

std::string with_flags(std::string_view message, const CLI::App& command) {
  const std::vector<std::string> flags = flags_of(command);
  std::string named;
  for (; !message.empty(); message.remove_prefix(1)) {
    if (message.starts_with(" = ")) {
      const std::string_view name = last_name(named);
      std::string flag = "--" + std::string(name);
      std::ranges::replace(flag, '_', '-');
      if (std::ranges::find(flags, flag) != flags.end())
        named.replace(named.size() - name.size(), name.size(), flag);
    }
    named += message.front();
  }
  return named;
}

void refuse_flags_as_values(CLI::App& program, const std::vector<std::string>& words) {
  for (CLI::App* command : program.get_subcommands(nullptr)) {
    refuse_flags_as_values(*command, words);
    for (CLI::Option* option : command->get_options()) {
      if (option->get_lnames().empty() || option->get_items_expected_max() == 0) continue;
      const auto refuse = [=](const std::string& value) {
        const std::vector<std::string> flags = flags_of(*command);
        const bool may_be_flag = value.starts_with("--") && std::ranges::all_of(value, is_of_name);
        if (!may_be_flag) return std::string();
        const std::optional<std::string> meant = value == "--" ? value : nearest_name(value, flags);
        const std::array two{"--" + option->get_lnames().front(), value};  // and not --prompt=TEXT
        const bool follows =
            std::search(words.begin(), words.end(), two.begin(), two.end()) != words.end();
        if (!meant || !follows) return std::string();
        const std::string says = "needs a value, but " + value + " follows it";
        if (*meant == value) return says;
        return text(says, "; did you mean \"", *meant, "\"? If not, write ", two.front(), "=",
                    value);
      };
      option->check(refuse);
    }
  }
}

}  // namespace heed::cli
