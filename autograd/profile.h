#pragma once

#include <heed/autograd/node.h>

#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

namespace heed {

/// The calls of one op in one direction, and how long they took in all.
struct OpCalls {
  std::int64_t calls = 0;
  double seconds = 0;
};

struct OpProfile {
  std::string_view op;
  OpCalls forward = {}, backward = {};
};

/// While it is alive, every op on this thread is timed: its forward, and its backward within a
/// sweep. Other ops that it calls on its way are its own affair and not counted beside it. The time
/// is the wall clock's, on however many threads a kernel runs. Of several alive on a thread the
/// innermost one counts.
///
/// With none alive an op pays for one thread-local load; with one, for two readings of the clock.
class Profile {
 public:
  Profile();
  ~Profile();
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  /// In the order in which they were first called.
  const std::vector<OpProfile>& ops() const { return ops_; }

  enum class Pass { forward, backward };
  /// Adds a call; what it is called with lives as long as the program, as names of ops do.
  void add(std::string_view op, Pass pass, double seconds);

 private:
  std::vector<OpProfile> ops_;
  Profile* outer_;
};

namespace detail {

inline thread_local Profile* profile = nullptr;  // the innermost one alive on this thread

/// Times an op until the scope ends, if somebody wants to know.
class TimedOp {
 public:
  explicit TimedOp(std::string_view op) : profile_(profile) {
    if (profile_) begin(op, Profile::Pass::forward);
  }
  explicit TimedOp(const Node& node) : profile_(profile) {
    if (profile_) begin(node.name(), Profile::Pass::backward);
  }
  ~TimedOp() {
    if (profile_) end();
  }
  TimedOp(const TimedOp&) = delete;
  TimedOp& operator=(const TimedOp&) = delete;

 private:
  void begin(std::string_view op, Profile::Pass pass);
  void end();

  Profile* profile_;
  std::string_view op_;
  Profile::Pass pass_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace detail
}  // namespace heed
