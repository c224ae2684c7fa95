#pragma once

#include <heed/autograd/tensor.h>
#include <heed/autograd/tokens_mask.h>

namespace heed {

enum class Reduction { none, sum, mean };

struct CrossEntropyOptions {
  std::int64_t ignore_index = kIgnore;
  double label_smoothing = 0;  ///< weight of the uniform distribution in the target, in [0, 1]
  Reduction reduction = Reduction::mean;
};

/// -log softmax(logits)[target] in nats. logits (..., V), targets (...). A target equal to
/// ignore_index counts for nothing; `mean` divides by the number of those that count and is 0, with
/// zero gradient, if there are none. Throws IndexError for a target outside [0, V).
Tensor cross_entropy(const Tensor& logits, const Tokens& targets, CrossEntropyOptions options = {});
/// -log_p[target], the same for log-probabilities.
Tensor nll_loss(const Tensor& log_p, const Tokens& targets, CrossEntropyOptions options = {});

/// Means over all elements (ShapeError for none); `target` has x's shape. |x|'s gradient at 0 is 0.
Tensor mse_loss(const Tensor& x, const Tensor& target);
Tensor l1_loss(const Tensor& x, const Tensor& target);
/// Half the square up to a distance of delta, linear beyond (PyTorch's huber_loss).
Tensor huber_loss(const Tensor& x, const Tensor& target, double delta = 1);
/// Targets in [0, 1], computed without leaving the log domain.
Tensor binary_cross_entropy_with_logits(const Tensor& logits, const Tensor& target);
/// target · (log target - log_p), 0 where target is 0.
Tensor kl_div(const Tensor& log_p, const Tensor& target);

}  // namespace heed
