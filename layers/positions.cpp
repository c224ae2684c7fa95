#include <heed/autograd/error.h>
#include <heed/autograd/ops/shape.h>
#include <heed/layers/positions.h>

namespace heed {

PositionEmbedding::PositionEmbedding(std::int64_t context, std::int64_t d, Rng& rng)
    : weight(normal({context, d}, rng).requires_grad_()) {}

Tensor PositionEmbedding::operator()(std::int64_t time, std::int64_t start) const {
  const std::int64_t context = weight.dim(0);
  if (time < 0 || start < 0 || time > context - start)
    throw IndexError(text("position_embedding: context ", context, ", got ", time, " positions",
                          start == 0 ? "; pass fewer tokens"
                                     : text(" from ", start, " on; begin again with the last ones"),
                          " or make the model with a longer context"));
  return slice(weight, 0, start, start + time);
}

void PositionEmbedding::visit(Visitor& v) { v("weight", weight); }

}  // namespace heed
