#pragma once

#include <heed/autograd/tensor.h>

namespace heed {

struct MatmulOptions {
  bool transpose_a = false;
  bool transpose_b = false;
};

/// Matrix product over the last two axes; the axes before them are a batch and broadcast. A 1-D
/// operand is a row on the left and a column on the right, and its axis disappears from the result.
/// The options transpose the last two axes of an operand (which must have two) without a copy.
/// Throws ShapeError naming both shapes.
Tensor matmul(const Tensor& a, const Tensor& b, MatmulOptions options = {});

/// y = x W + b with x (..., in), w (in, out), b (out) or undefined for none; y (..., out).
Tensor linear(const Tensor& x, const Tensor& w, const Tensor& b = {});

}  // namespace heed
