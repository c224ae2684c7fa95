#pragma once

#include <heed/train/optimizers/optimizer.h>

namespace heed {

struct SgdOptions {
  double lr = 1e-2;
  double momentum = 0;
  double dampening = 0;  ///< of what a gradient adds to the momentum, from the second one on
  bool nesterov = false;
  double weight_decay = 0;  ///< added to the gradient, times the parameter
  DecayRule decays = decay_matrices;
  ParameterGroups groups = {};
};

/// Stochastic gradient descent: p -= lr u with u the gradient or, with momentum, b = momentum b +
/// (1 - dampening) g; nesterov looks ahead, u = g + momentum b (Sutskever et al., ICML 2013, in
/// PyTorch's form).
class Sgd final : public Optimizer {
 public:
  /// Throws ValueError for an option outside its range, and for nesterov without momentum or with
  /// dampening.
  explicit Sgd(Parameters parameters, SgdOptions options = {});

 private:
  void update(Slot& slot, const Tensor& gradient) override;

  SgdOptions options_;
};

}  // namespace heed
