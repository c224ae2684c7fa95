#pragma once

#include <heed/autograd/scoped.h>

namespace heed {

namespace detail {
inline constinit thread_local bool grad_mode = true;
}

/// Whether ops on this thread are being recorded for differentiation.
inline bool grad_enabled() { return detail::grad_mode; }

/// Turns recording on or off on this thread until the scope ends.
class GradMode : private detail::Scoped<bool> {
 public:
  explicit GradMode(bool on) : Scoped(detail::grad_mode, on) {}
};

/// No op on this thread is recorded until the scope ends.
class NoGrad : private GradMode {
 public:
  NoGrad() : GradMode(false) {}
};

}  // namespace heed
