#pragma once

#include <heed/train/optimizers/optimizer.h>

namespace heed {

struct AdamOptions {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
  DecayRule decays = decay_matrices;
  ParameterGroups groups = {};
};

/// Adam (Kingma and Ba, arXiv:1412.6980, algorithm 1): with m and v the running means of g and g²,
/// each divided by 1 - beta^t, p -= lr m / (sqrt(v) + eps). Weight decay is an L2 term: added to
/// the gradient, times the parameter.
class Adam : public Optimizer {
 public:
  /// Throws ValueError for an option outside its range.
  explicit Adam(Parameters parameters, AdamOptions options = {})
      : Adam("adam", std::move(parameters), std::move(options), false) {}

 protected:
  Adam(std::string_view name, Parameters parameters, AdamOptions options, bool decoupled);

 private:
  void update(Slot& slot, const Tensor& gradient) final;

  AdamOptions options_;
  bool decoupled_;
};

struct AdamWOptions {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 1e-2;
  DecayRule decays = decay_matrices;
  ParameterGroups groups = {};
};

/// Adam whose weight decay does not pass through the running means: p is first multiplied by 1 - lr
/// weight_decay (Loshchilov and Hutter, arXiv:1711.05101, in PyTorch's form).
class AdamW final : public Adam {
 public:
  /// Throws ValueError for an option outside its range.
  explicit AdamW(Parameters parameters, AdamWOptions options = {})
      : Adam("adamw", std::move(parameters),
             {options.lr, options.beta1, options.beta2, options.eps, options.weight_decay,
              std::move(options.decays), std::move(options.groups)},
             true) {}
};

namespace detail {

/// One update of a parameter by Adam.
struct AdamStep {
  double lr, beta1, beta2, eps;
  double l2 = 0;      ///< decay that passes through the means
  double shrink = 0;  ///< decay that does not
  double t = 1;       ///< updates, this one included

  /// Changes the parameter, its mean and its mean square in place.
  void operator()(Tensor& value, const Tensor& gradient, Tensor& mean, Tensor& mean_square) const;
};

}  // namespace detail

}  // namespace heed
