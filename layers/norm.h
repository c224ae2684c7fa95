#pragma once

#include <heed/layers/visitor.h>

namespace heed {

struct LayerNormOptions {
  double eps = 1e-5;  ///< added to the variance, inside the root
};

/// Layer normalisation of the last axis (Ba et al., arXiv:1607.06450), then times weight, which
/// starts at 1, plus bias, which starts at 0.
struct LayerNorm {
  Tensor weight;  ///< (d)
  Tensor bias;    ///< (d)
  double eps;

  explicit LayerNorm(std::int64_t d, LayerNormOptions options = {});

  Tensor operator()(const Tensor& x) const;
  void visit(Visitor& v);
};

}  // namespace heed
