#pragma once

#include <heed/autograd/tensor.h>
#include <heed/autograd/tokens_mask.h>

/// Masks: made by comparing (with broadcasting), used to select. The gradient of what was not
/// selected is 0, whatever comes in: it is chosen, never multiplied by zero.
namespace heed {

/// a where the mask is true, b elsewhere; all three broadcast.
Tensor where(const Mask& mask, const Tensor& a, const Tensor& b);

Mask operator<(const Tensor& a, const Tensor& b);
Mask operator<(const Tensor& a, double b);
Mask operator>(const Tensor& a, const Tensor& b);
Mask operator>(const Tensor& a, double b);
Mask operator<=(const Tensor& a, const Tensor& b);
Mask operator<=(const Tensor& a, double b);
Mask operator>=(const Tensor& a, const Tensor& b);
Mask operator>=(const Tensor& a, double b);
Mask operator==(const Tensor& a, const Tensor& b);
Mask operator==(const Tensor& a, double b);
Mask operator!=(const Tensor& a, const Tensor& b);
Mask operator!=(const Tensor& a, double b);

/// `value` where the mask is true (hidden), x elsewhere. The mask broadcasts to x's shape. A filled
/// element has gradient 0, whatever comes in.
Tensor masked_fill(const Tensor& x, const Mask& mask, double value);
/// (Tq, Tk) with true = hidden: query i sees the keys j <= i + Tk - Tq, so the last query sees
/// every key. Tk is Tq unless given.
Mask causal_mask(std::int64_t queries, std::int64_t keys);
Mask causal_mask(std::int64_t queries);

}  // namespace heed
