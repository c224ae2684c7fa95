#pragma once

#include <heed/autograd/tensor.h>

#include <vector>

namespace heed {

struct GradOptions {
  bool create_graph = false;  ///< the gradient is recorded, so that it has a gradient; retains
  bool retain_graph = false;  ///< keep what the graph saved, so that it can be differentiated again
  Tensor seed = {};           ///< gradient of y, in y's shape; 1 if y has one element
};

/// The gradient of `y` with respect to each of `xs` (vector-Jacobian products with the seed), in
/// their shapes; zeros where y does not depend on x. Leaves collect nothing. Throws GraphError if
/// an x does not require a gradient, if y has several elements and no seed, or if the graph was
/// released; ShapeError and DTypeError, naming the op, if a gradient does not fit its tensor.
std::vector<Tensor> grad(const Tensor& y, const std::vector<Tensor>& xs, GradOptions options = {});
Tensor grad(const Tensor& y, const Tensor& x, GradOptions options = {});

struct BackwardOptions {
  bool retain_graph = false;  ///< keep what the graph saved, so that it can be differentiated again
  Tensor seed = {};           ///< gradient of the loss, in its shape; 1 if it has one element
};

/// Adds the gradient of `loss` to `x.grad()` of every leaf x it depends on; either to all of them
/// or, if an error is thrown, to none. Errors as for `grad`, and GraphError if there is no such
/// leaf.
void backward(const Tensor& loss, BackwardOptions options = {});

}  // namespace heed
