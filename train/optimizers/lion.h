#pragma once

#include <heed/train/optimizers/optimizer.h>

namespace heed {

struct LionOptions {
  double lr = 1e-4;
  double beta1 = 0.9;   ///< of the momentum in what is followed
  double beta2 = 0.99;  ///< of the momentum in what is remembered
  double weight_decay = 0;
  DecayRule decays = decay_matrices;
  ParameterGroups groups = {};
};

/// Lion (Chen et al., arXiv:2302.06675, algorithm 2): p -= lr (sign(beta1 m + (1 - beta1) g) +
/// weight_decay p), then m = beta2 m + (1 - beta2) g. Every element moves by lr, so that lr is
/// smaller than Adam's, a third to a tenth, and the decay larger. The sign of 0 is 0.
class Lion final : public Optimizer {
 public:
  /// Throws ValueError for an option outside its range.
  explicit Lion(Parameters parameters, LionOptions options = {});

 private:
  void update(Slot& slot, const Tensor& gradient) override;

  LionOptions options_;
};

}  // namespace heed
