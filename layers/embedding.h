#pragma once

#include <heed/autograd/rng.h>
#include <heed/autograd/tokens_mask.h>
#include <heed/layers/visitor.h>

namespace heed {

/// A learned vector for each of n ids. The table starts from normal(0, 1).
struct Embedding {
  Tensor weight;  ///< (n, d)

  Embedding(std::int64_t n, std::int64_t d, Rng& rng);

  /// tokens (...) to (..., d). Throws IndexError for an id outside [0, n).
  Tensor operator()(const Tokens& tokens) const;
  void visit(Visitor& v);
};

}  // namespace heed
