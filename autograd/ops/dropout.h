#pragma once

#include <heed/autograd/rng.h>
#include <heed/autograd/tensor.h>

#include <cstdint>

namespace heed {

/// While it lives, dropout is on for this thread and draws from `rng`; outside every model is in
/// evaluation. Scopes nest.
class Training {
 public:
  explicit Training(Rng& rng);
  ~Training();
  Training(const Training&) = delete;
  Training& operator=(const Training&) = delete;

  /// The generator of the innermost scope; none in evaluation.
  static Rng* rng();

 private:
  Rng* before_;
};

/// Within a Training scope: each element 0 with probability p, else divided by 1 - p. Outside: x.
/// Throws ValueError unless 0 <= p <= 1. Which elements fall is recomputed from the generator's
/// counter, not stored.
Tensor dropout(const Tensor& x, double p);

namespace detail {

/// One call of dropout, which can be made again: on other tensors of as many elements, or by a
/// kernel that drops the same cells.
struct Drop {
  double p = 0;  ///< 0: nothing falls
  RngState draws = {};

  /// The next one of the Training scope, if there is one, for so many cells.
  static Drop next(double p, std::int64_t cells);
  Tensor operator()(const Tensor& x) const;
};

}  // namespace detail

}  // namespace heed
