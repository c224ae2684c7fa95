#include <heed/autograd/grad_mode.h>

#include <utility>

namespace heed {
namespace {
thread_local bool enabled = true;
}

bool grad_enabled() { return enabled; }

GradMode::GradMode(bool on) : before_(std::exchange(enabled, on)) {}
GradMode::~GradMode() { enabled = before_; }

}  // namespace heed
