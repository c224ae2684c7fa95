#include <heed/train/cli/threads.h>

#include <cstdlib>

namespace heed::cli {

void add_threads(CLI::App& command, std::optional<std::string>& asked) {
  command
      .add_option("--threads", asked,
                  "threads that share the work, which changes no number: " + kThreads.range() +
                      " [HEED_THREADS, or the cores there are]")
      ->type_name("N")
      ->take_last();
}

void use_threads(const std::optional<std::string>& asked) {
  if (asked)
    set_threads(static_cast<int>(kThreads.read("threads", *asked)));
  else if (const char* written = std::getenv("HEED_THREADS"); written && *written)
    kThreads.read("HEED_THREADS", written);
}

}  // namespace heed::cli
