#pragma once

namespace heed {

/// Whether ops on this thread are being recorded for differentiation.
bool grad_enabled();

/// Turns recording on or off on this thread until the scope ends.
class GradMode {
 public:
  explicit GradMode(bool on);
  ~GradMode();
  GradMode(const GradMode&) = delete;
  GradMode& operator=(const GradMode&) = delete;

 private:
  bool before_;
};

/// No op on this thread is recorded until the scope ends.
class NoGrad : private GradMode {
 public:
  NoGrad() : GradMode(false) {}
};

}  // namespace heed
