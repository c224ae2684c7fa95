#pragma once

#include <heed/autograd/tensor.h>
#include <heed/autograd/tokens_mask.h>

/// Elementwise ops. Two tensors broadcast by NumPy's rule (ShapeError names both shapes) and must
/// have one dtype (DTypeError); a double is taken in the tensor's own. Where a gradient has to
/// choose (a mask, a kink), it selects and never multiplies by zero, so an infinite gradient stays
/// on its side.
namespace heed {

Tensor operator+(const Tensor& a, const Tensor& b);
Tensor operator+(const Tensor& a, double b);
Tensor operator+(double a, const Tensor& b);
Tensor operator-(const Tensor& a, const Tensor& b);
Tensor operator-(const Tensor& a, double b);
Tensor operator-(double a, const Tensor& b);
Tensor operator*(const Tensor& a, const Tensor& b);
Tensor operator*(const Tensor& a, double b);
Tensor operator*(double a, const Tensor& b);
Tensor operator/(const Tensor& a, const Tensor& b);
Tensor operator/(const Tensor& a, double b);
Tensor operator/(double a, const Tensor& b);
Tensor operator-(const Tensor& x);
Tensor neg(const Tensor& x);

Tensor exp(const Tensor& x);
Tensor log(const Tensor& x);
/// log(1 + x), exact for small x.
Tensor log1p(const Tensor& x);
/// Gradient at 0 is infinite, as in the calculus.
Tensor sqrt(const Tensor& x);
/// 1 / sqrt(x).
Tensor rsqrt(const Tensor& x);
Tensor square(const Tensor& x);
/// x^exponent. x^0 is 1 with gradient 0, and a whole exponent takes a negative x.
Tensor pow(const Tensor& x, double exponent);
/// x^y. The gradient of y is 0 where x is 0; that of x is 0 where y is 0.
Tensor pow(const Tensor& x, const Tensor& y);
/// Gradient at 0 is 0.
Tensor abs(const Tensor& x);
Tensor sin(const Tensor& x);
Tensor cos(const Tensor& x);
Tensor tanh(const Tensor& x);
/// 1 / (1 + exp(-x)).
Tensor sigmoid(const Tensor& x);
/// max(x, 0); gradient at 0 is 0.
Tensor relu(const Tensor& x);
/// x where x > 0, slope·x elsewhere.
Tensor leaky_relu(const Tensor& x, double slope = 0.01);
/// x where x > 0, alpha (exp(x) - 1) elsewhere (Clevert et al., arXiv:1511.07289).
Tensor elu(const Tensor& x, double alpha = 1);

/// Which GELU (Hendrycks and Gimpel, arXiv:1606.08415): x Φ(x) itself, or its tanh approximation.
enum class Gelu { erf, tanh };
/// Value and derivative to a relative error of at most 1e-5 in f32 on [-10, 10].
Tensor gelu(const Tensor& x, Gelu form = Gelu::erf);
/// x sigmoid(x).
Tensor silu(const Tensor& x);
/// log(1 + exp(x)).
Tensor softplus(const Tensor& x);
Tensor erf(const Tensor& x);

/// The larger of two; where they are equal each gets half of the gradient.
Tensor maximum(const Tensor& a, const Tensor& b);
/// The smaller of two; where they are equal each gets half of the gradient.
Tensor minimum(const Tensor& a, const Tensor& b);
/// x limited to [low, high]; the gradient passes at the bounds. Throws ValueError if low > high.
Tensor clamp(const Tensor& x, double low, double high);

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

/// sum += x, in place if nobody else holds the sum and nothing is being recorded. Same shape and
/// dtype.
void add_into(Tensor& sum, const Tensor& x);

}  // namespace heed
