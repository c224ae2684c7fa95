#pragma once

#include <heed/autograd/tensor.h>

/// Functions of each element. Two tensors broadcast and have one dtype, as in arithmetic.h. Where a
/// gradient has to choose (a kink, a bound), it selects and never multiplies by zero.
namespace heed {

Tensor exp(const Tensor& x);
Tensor log(const Tensor& x);
/// log(1 + x), exact for small x.
Tensor log1p(const Tensor& x);
/// Gradient at 0 is infinite, as in the calculus.
Tensor sqrt(const Tensor& x);
/// 1 / sqrt(x).
Tensor rsqrt(const Tensor& x);
Tensor square(const Tensor& x);
/// x^exponent. x^0 is 1 with gradient 0; a whole one never goes through log and takes negative x.
Tensor pow(const Tensor& x, double exponent);
/// x^y. The gradient of y is 0 where x is 0; that of x is 0 where y is 0.
Tensor pow(const Tensor& x, const Tensor& y);
/// Gradient at 0 is 0.
Tensor abs(const Tensor& x);
Tensor sin(const Tensor& x);
Tensor cos(const Tensor& x);
Tensor tanh(const Tensor& x);
Tensor erf(const Tensor& x);

/// The larger of two; where they are equal each gets half of the gradient.
Tensor maximum(const Tensor& a, const Tensor& b);
/// The smaller of two; where they are equal each gets half of the gradient.
Tensor minimum(const Tensor& a, const Tensor& b);
/// x limited to [low, high]; the gradient passes at the bounds. Throws ValueError if low > high.
Tensor clamp(const Tensor& x, double low, double high);

}  // namespace heed
