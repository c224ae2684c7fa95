#pragma once

namespace heed::cli {

/// While it lives, the first SIGINT or SIGTERM is only remembered, so that the step can be finished
/// and saved; a second one ends the program at once, with exit code 130. From then on an output
/// that nobody reads (SIGPIPE) ends nothing.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  static bool requested();
};

}  // namespace heed::cli
