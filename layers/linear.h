#pragma once

#include <heed/autograd/rng.h>
#include <heed/layers/visitor.h>

namespace heed {

struct LinearOptions {
  bool bias = true;
};

/// y = x W + b on the last axis, x (..., in), y (..., out). W starts from normal(0, 1/sqrt(in)),
/// which keeps the variance of its input (LeCun et al., "Efficient BackProp", 1998), b from 0.
struct Linear {
  Tensor weight;  ///< (in, out)
  Tensor bias;    ///< (out); undefined without

  Linear(std::int64_t in, std::int64_t out, Rng& rng, LinearOptions options = {});

  Tensor operator()(const Tensor& x) const;
  void visit(Visitor& v);
};

}  // namespace heed
