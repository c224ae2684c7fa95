#pragma once

#include <heed/train/optimizers/optimizer.h>

namespace heed {

struct RmspropOptions {
  double lr = 1e-2;
  double alpha = 0.99;  ///< how much of the mean square is kept
  double eps = 1e-8;
  double momentum = 0;
  bool centered = false;    ///< divide by the standard deviation in place of the root mean square
  double weight_decay = 0;  ///< added to the gradient, times the parameter
  DecayRule decays = decay_matrices;
  ParameterGroups groups = {};
};

/// RMSprop (Tieleman and Hinton 2012, lecture 6.5; in PyTorch's form): with v the running mean of
/// g², p -= lr u with u = g / (sqrt(v) + eps) or, with momentum, b = momentum b + that. Centered, v
/// loses the square of the running mean of g (Graves, arXiv:1308.0850, eq. 38).
class Rmsprop final : public Optimizer {
 public:
  /// Throws ValueError for an option outside its range.
  explicit Rmsprop(Parameters parameters, RmspropOptions options = {});

 private:
  void update(Slot& slot, const Tensor& gradient) override;

  RmspropOptions options_;
};

}  // namespace heed
