#include <heed/autograd/isa.h>
#include <heed/autograd/threads.h>
#include <heed/train/cli/build_info.h>
#include <heed/train/cli/config_file.h>

#include <string>
#include <variant>

namespace heed::cli {

std::string version() { return HEED_VERSION; }

Fields build_info() {
  return {{"version", version()},
          {"compiler", HEED_COMPILER},
          {"flags", HEED_FLAGS},
          {"isa", std::string(name(isa()))},
          {"threads", std::to_string(threads())}};
}

std::string build_section() {
  std::string section = "[build]\n";
  for (const auto& [name, value] : build_info())
    section += name + " = " + toml_string(std::get<std::string>(value)) + "\n";
  return section;
}

}  // namespace heed::cli
