#include <heed/autograd/error.h>
#include <heed/autograd/ops/shape.h>
#include <heed/layers/choice.h>
#include <heed/layers/positions.h>

#include <cmath>
#include <utility>

namespace heed {

std::string_view name(Positions positions) {
  return detail::name_among("positions", positions,
                            {"learned", "sinusoidal", "rotary", "alibi", "none"});
}

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

Tensor sinusoidal_positions(std::int64_t time, std::int64_t d, std::int64_t start, DType dtype) {
  std::vector<double> waves(static_cast<std::size_t>(time * d));
  for (std::int64_t c = 0; c < d; ++c) {
    const std::int64_t even = c / 2 * 2;
    const double frequency = std::pow(10000, -static_cast<double>(even) / static_cast<double>(d));
    for (std::int64_t t = 0; t < time; ++t) {
      const double angle = static_cast<double>(start + t) * frequency;
      waves[static_cast<std::size_t>(t * d + c)] = c == even ? std::sin(angle) : std::cos(angle);
    }
  }
  return tensor(std::move(waves), {time, d}, dtype);
}

}  // namespace heed
