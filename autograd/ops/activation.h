#pragma once

#include <heed/autograd/tensor.h>

/// Activation functions, elementwise. Gradients select at a kink and never multiply by zero.
namespace heed {

/// 1 / (1 + exp(-x)).
Tensor sigmoid(const Tensor& x);
/// max(x, 0); gradient at 0 is 0.
Tensor relu(const Tensor& x);
/// x where x > 0, slope·x elsewhere; gradient at 0 is slope.
Tensor leaky_relu(const Tensor& x, double slope = 0.01);
/// x where x > 0, else alpha (exp(x) - 1), gradient alpha at 0 (Clevert et al., arXiv:1511.07289).
Tensor elu(const Tensor& x, double alpha = 1);

/// Which GELU (Hendrycks and Gimpel, arXiv:1606.08415): x Φ(x) itself, or its tanh approximation.
enum class Gelu { erf, tanh };
/// Value and derivative to a relative error of at most 1e-5 in f32 on [-10, 10].
Tensor gelu(const Tensor& x, Gelu form = Gelu::erf);
/// x sigmoid(x) (Elfwing et al., arXiv:1702.03118).
Tensor silu(const Tensor& x);
/// log(1 + exp(x)).
Tensor softplus(const Tensor& x);

}  // namespace heed
