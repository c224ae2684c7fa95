#include <heed/train/cli/build_info.h>
#include <heed/train/cli/commands.h>
#include <heed/train/cli/output.h>

#include <memory>
#include <variant>

namespace heed::cli {

void add_version(CLI::App& program, Action& action) {
  CLI::App* command =
      program.add_subcommand("version", "what this program is, and how it was built");
  const auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "one JSON object");
  command->callback([&action, json] {
    action = [json] {
      Fields info = build_info();
      if (*json) {
        info.insert(info.begin(), {"event", "result"});
        out.raw(json_line(info));
        return kOk;
      }
      out.line("heed " + std::get<std::string>(info.front().value));
      for (const auto& [name, value] : std::span(info).subspan(1))
        out.line("  " + name + ": " + std::get<std::string>(value));
      return kOk;
    };
  });
}

}  // namespace heed::cli
