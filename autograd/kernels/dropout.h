#pragma once

#include <heed/autograd/rng.h>

#include <cstdint>

namespace heed::kernels {

/// What the cells from `begin` on are multiplied by, one after the other: 0 with chance p, else
/// 1 / (1 - p). Cell i takes draw number i.
template <class T>
class DropFactors {
 public:
  DropFactors(RngState draws, double p, std::int64_t begin)
      : rng_(0), p_(p), scale_(static_cast<T>(1 / (1 - p))) {
    rng_.set_state({draws.key, draws.position + static_cast<std::uint64_t>(begin)});
  }
  T next() { return rng_.uniform() < p_ ? T(0) : scale_; }

 private:
  Rng rng_;
  double p_;
  T scale_;
};

}  // namespace heed::kernels
