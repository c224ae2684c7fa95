#pragma once

#include <heed/autograd/ops/dropout.h>
#include <heed/layers/visitor.h>

namespace heed {

/// Drops elements with probability p within a `Training` scope and is the identity outside
/// (Srivastava et al., JMLR 15, 2014). It has no parameters and no flag.
struct Dropout {
  double p;

  explicit Dropout(double probability = 0) : p(probability) {}

  Tensor operator()(const Tensor& x) const { return dropout(x, p); }
  void visit(Visitor&) {}
};

}  // namespace heed
