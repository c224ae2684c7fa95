#pragma once

#include <utility>

namespace heed::detail {

/// Gives `at` another value until the scope ends.
template <class T>
class Scoped {
 public:
  Scoped(T& at, T value) : at_(at), before_(std::exchange(at, value)) {}
  ~Scoped() { at_ = before_; }
  Scoped(const Scoped&) = delete;
  Scoped& operator=(const Scoped&) = delete;

 private:
  T& at_;
  T before_;
};

}  // namespace heed::detail
