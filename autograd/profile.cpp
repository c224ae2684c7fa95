#include <heed/autograd/profile.h>

#include <algorithm>
#include <utility>

namespace heed {

Profile::Profile() : outer_(std::exchange(detail::profile, this)) {}
Profile::~Profile() { detail::profile = outer_; }

void Profile::add(std::string_view op, Pass pass, double seconds) {
  auto found = std::ranges::find(ops_, op, &OpProfile::op);
  if (found == ops_.end()) found = ops_.insert(found, {op});
  OpCalls& calls = pass == Pass::forward ? found->forward : found->backward;
  ++calls.calls;
  calls.seconds += seconds;
}

namespace detail {

void TimedOp::begin(std::string_view op, Profile::Pass pass) {
  profile = nullptr;  // what it calls is its own affair
  op_ = op;
  pass_ = pass;
  start_ = std::chrono::steady_clock::now();
}

void TimedOp::end() {
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start_;
  profile = profile_;
  profile_->add(op_, pass_, time.count());
}

}  // namespace detail
}  // namespace heed
