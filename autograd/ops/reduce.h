#pragma once

#include <heed/autograd/tensor.h>
#include <heed/autograd/tokens_mask.h>

/// Reductions over a set of axes (all of them unless named, negative counted from the back). The
/// reduced axes disappear or, with `keepdim`, stay with length 1. Sums are accumulated in f64. A
/// mean, variance or extreme of nothing throws ShapeError; the sum of nothing is 0. IndexError for
/// an axis outside the range or named twice.
namespace heed {

Tensor sum(const Tensor& x, const Axes& axes = {}, bool keepdim = false);
Tensor mean(const Tensor& x, const Axes& axes = {}, bool keepdim = false);
/// Sum of squares about the mean over n - correction. Throws ShapeError unless n > correction.
Tensor var(const Tensor& x, const Axes& axes = {}, bool keepdim = false, double correction = 1);
/// Largest element; equal ones share the gradient equally.
Tensor amax(const Tensor& x, const Axes& axes = {}, bool keepdim = false);
/// Smallest element; equal ones share the gradient equally.
Tensor amin(const Tensor& x, const Axes& axes = {}, bool keepdim = false);
/// log of the sum of exp(x). -inf, with gradient 0, where every x is -inf. ShapeError for none.
Tensor logsumexp(const Tensor& x, const Axes& axes = {}, bool keepdim = false);
/// Euclidean length. The gradient at a zero vector is 0.
Tensor norm(const Tensor& x, const Axes& axes = {}, bool keepdim = false);

struct MaxResult {
  Tensor values;
  Tokens indices;
};
/// Largest element along an axis and where it first stands; that one gets the gradient.
MaxResult max(const Tensor& x, std::int64_t axis, bool keepdim = false);
/// Position of the first largest element along an axis.
Tokens argmax(const Tensor& x, std::int64_t axis = -1);

/// Running sum along an axis, in the shape of x.
Tensor cumsum(const Tensor& x, std::int64_t axis);

/// x summed over the axes that broadcasting stretched, so that it has `shape` again. Throws
/// ShapeError if `shape` does not broadcast to x's.
Tensor sum_to(const Tensor& x, const Shape& shape);

}  // namespace heed
