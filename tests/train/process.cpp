#include "process.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <stdexcept>

namespace heed {
namespace {

struct Ends {
  int ours, theirs;
};

Ends make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe");
  return {ends[0], ends[1]};
}

Ends make_terminal(const Start& start) {
  winsize size{static_cast<unsigned short>(start.terminal_height),
               static_cast<unsigned short>(start.terminal_width), 0, 0};
  Ends ends{};
  if (::openpty(&ends.ours, &ends.theirs, nullptr, nullptr, &size) != 0)
    throw std::runtime_error("openpty");
  ::fcntl(ends.ours, F_SETFD, FD_CLOEXEC);
  ::fcntl(ends.theirs, F_SETFD, FD_CLOEXEC);
  return ends;
}

[[noreturn]] void become(std::vector<char*> words, const Start& start, int out, int err) {
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  if (!start.folder.empty() && ::chdir(start.folder.c_str()) != 0) ::_exit(126);
  for (const char* name : {"TERM", "COLORTERM", "NO_COLOR", "COLUMNS", "LINES", "HEED_COMMAND"})
    ::unsetenv(name);
  for (const auto& [name, value] : start.environment)
    value.empty() ? ::unsetenv(name.c_str()) : ::setenv(name.c_str(), value.c_str(), 1);
  ::execv(words[0], words.data());
  ::_exit(127);
}

/// Appends what can be read; false, and closed, at the end.
bool read_into(std::string& text, int& descriptor) {
  std::array<char, 65536> buffer{};
  const ssize_t size = ::read(descriptor, buffer.data(), buffer.size());
  if (size < 0 && errno == EINTR) return true;
  if (size > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(size));
    return true;
  }
  ::close(descriptor);  // a terminal ends with an error
  descriptor = -1;
  return false;
}

}  // namespace

Process::Process(const std::vector<std::string>& arguments, const Start& start) {
  std::vector<std::string> words{HEED_PROGRAM};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);

  const Ends out = make_pipe();
  const Ends err = start.terminal_width < 0 ? make_pipe() : make_terminal(start);
  child_ = ::fork();
  if (child_ < 0) throw std::runtime_error("fork");
  if (child_ == 0) become(pointers, start, out.theirs, err.theirs);
  ::close(out.theirs);
  ::close(err.theirs);
  out_ = out.ours;
  err_ = err.ours;
}

Process::~Process() {
  if (child_ > 0) {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }
  for (int descriptor : {out_, err_})
    if (descriptor >= 0) ::close(descriptor);
}

void Process::signal(int number) const { ::kill(child_, number); }

bool Process::read_some() {
  std::array<pollfd, 2> ends{{{out_, POLLIN, 0}, {err_, POLLIN, 0}}};
  if (out_ < 0 && err_ < 0) return false;
  ::poll(ends.data(), ends.size(), -1);  // what is closed, -1, is passed over
  if (out_ >= 0 && ends[0].revents) read_into(outcome_.out, out_);
  if (err_ >= 0 && ends[1].revents) read_into(outcome_.err, err_);
  return true;
}

bool Process::wait_for(std::string_view text) {
  while (outcome_.err.find(text) == std::string::npos)
    if (!read_some()) return false;
  return true;
}

Outcome Process::finish() {
  while (read_some()) {
  }
  int status = 0;
  ::waitpid(child_, &status, 0);
  child_ = -1;
  outcome_.code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  return outcome_;
}

Outcome run_heed(const std::vector<std::string>& arguments, const Start& start) {
  return Process(arguments, start).finish();
}

std::vector<std::string> on_a_terminal(int columns, std::vector<std::string> arguments,
                                       const char* term) {
  const winsize size = {24, static_cast<unsigned short>(columns), 0, 0};
  int outer = -1;
  const pid_t child = ::forkpty(&outer, nullptr, nullptr, &size);
  if (child < 0) throw std::runtime_error("forkpty");
  if (child == 0) {
    arguments.insert(arguments.begin(), HEED_PROGRAM);
    std::vector<char*> words;
    for (std::string& argument : arguments) words.push_back(argument.data());
    words.push_back(nullptr);
    become(words, {.environment = {{"TERM", term}}}, STDOUT_FILENO, STDERR_FILENO);
  }
  std::string shown;
  while (outer >= 0) read_into(shown, outer);
  int status = -1;
  ::waitpid(child, &status, 0);
  if (status != 0) throw std::runtime_error("heed did not end well: " + shown);
  std::erase(shown, '\r');
  return lines_of(shown);
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace heed
