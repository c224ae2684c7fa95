#pragma once

#include <heed/autograd/tensor.h>

#include <limits>

namespace heed {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// exp(x) over its sum along an axis. A row that is -inf throughout (every key masked) becomes
/// zeros, with zero gradient.
Tensor softmax(const Tensor& x, std::int64_t axis = -1);
/// log of the softmax, exact where the softmax itself underflows. A row that is -inf throughout
/// stays -inf, with zero gradient.
Tensor log_softmax(const Tensor& x, std::int64_t axis = -1);

}  // namespace heed
