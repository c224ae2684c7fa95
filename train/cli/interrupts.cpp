#include <heed/train/cli/interrupts.h>
#include <heed/train/cli/output.h>
#include <unistd.h>

#include <csignal>

namespace heed::cli {
namespace {

volatile std::sig_atomic_t interrupted = 0;

void remember(int) {
  if (interrupted) ::_exit(kInterrupted);
  interrupted = 1;
}

void handle(void (*handler)(int), int flags) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  for (int signal : {SIGINT, SIGTERM}) ::sigaction(signal, &action, nullptr);
}

}  // namespace

Interrupts::Interrupts() {
  handle(remember, SA_RESTART);
  std::signal(SIGPIPE, SIG_IGN);
}
Interrupts::~Interrupts() { handle(SIG_DFL, 0); }
bool Interrupts::requested() { return interrupted != 0; }

}  // namespace heed::cli
