#pragma once

#include <heed/autograd/tensor.h>

namespace heed {

/// (x - mean) / sqrt(variance + eps) · w + b over the last axis (Ba et al., arXiv:1607.06450);
/// variance about the mean, over n. w and b have the length of that axis; undefined stands for 1
/// and 0.
Tensor layer_norm(const Tensor& x, const Tensor& w = {}, const Tensor& b = {}, double eps = 1e-5);
/// x / sqrt(mean(x²) + eps) · w over the last axis (Zhang and Sennrich, arXiv:1910.07467).
Tensor rms_norm(const Tensor& x, const Tensor& w = {}, double eps = 1e-6);

}  // namespace heed
