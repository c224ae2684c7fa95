#pragma once

#include <heed/autograd/rng.h>
#include <heed/layers/visitor.h>

namespace heed {

/// A learned vector for each position before `context` (Gehring et al., arXiv:1705.03122). The
/// table starts from normal(0, 1).
struct PositionEmbedding {
  Tensor weight;  ///< (context, d)

  PositionEmbedding(std::int64_t context, std::int64_t d, Rng& rng);

  /// The vectors of the `time` positions from `start` on, (T, d). Throws IndexError past the
  /// context.
  Tensor operator()(std::int64_t time, std::int64_t start = 0) const;
  void visit(Visitor& v);
};

}  // namespace heed
