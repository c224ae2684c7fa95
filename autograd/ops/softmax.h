#pragma once

#include <heed/autograd/tensor.h>
#include <heed/autograd/tokens_mask.h>

#include <limits>

namespace heed {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// exp(x) over its sum along an axis. A row that is -inf throughout (every key masked) becomes
/// zeros, with zero gradient.
Tensor softmax(const Tensor& x, std::int64_t axis = -1);
/// log of the softmax, exact where the softmax itself underflows. A row that is -inf throughout
/// stays -inf, with zero gradient.
Tensor log_softmax(const Tensor& x, std::int64_t axis = -1);

/// `value` where the mask is true, x elsewhere. The mask broadcasts to x's shape. The gradient of a
/// filled element is 0, whatever comes in.
Tensor masked_fill(const Tensor& x, const Mask& mask, double value);
/// (Tq, Tk) with true = hidden: query i sees the keys j <= i + Tk - Tq, so the last query sees
/// every key. Tk is Tq unless given.
Mask causal_mask(std::int64_t queries, std::int64_t keys);
Mask causal_mask(std::int64_t queries);

}  // namespace heed
