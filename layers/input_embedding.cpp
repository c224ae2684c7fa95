#include <heed/autograd/error.h>
#include <heed/autograd/ops/arithmetic.h>
#include <heed/autograd/ops/matmul.h>
#include <heed/layers/input_embedding.h>
#include <heed/layers/start.h>

#include <numbers>

namespace heed {

InputEmbedding::InputEmbedding(const TransformerConfig& config, Rng& rng)
    : token_embedding(config.vocabulary, config.d_model, rng),
      dropout(config.dropout),
      waves(config.positions == Positions::sinusoidal) {
  if (config.positions == Positions::learned)
    position_embedding.emplace(config.context, config.d_model, rng);
}

Tensor InputEmbedding::embed(const Tokens& tokens, std::int64_t start) const {
  if (tokens.ndim() != 2)
    throw ShapeError(text("transformer: expects tokens (B, T), got ", tokens.shape()));
  const std::int64_t time = tokens.dim(1);
  Tensor x = token_embedding(tokens);  // (B, T, C)
  if (position_embedding) x = x + (*position_embedding)(time, start);
  if (waves) {
    const double height = kStart * std::numbers::sqrt2;  // a wave's deviation is its height / √2
    x = x + sinusoidal_positions(time, x.dim(2), start, x.dtype()) * height;
  }
  return dropout(x);
}

Tensor InputEmbedding::logits(const Tensor& x, const std::optional<Linear>& head) const {
  return head ? (*head)(x) : matmul(x, token_embedding.weight, {.transpose_b = true});
}

void InputEmbedding::visit(Visitor& v) {
  v("token_embedding", token_embedding);
  v("position_embedding", position_embedding);
  v("dropout", dropout);
}

void require_padding_of(const Tokens& tokens, const Mask& hidden) {
  if (hidden.defined() && hidden.shape() != tokens.shape())
    throw ShapeError(text("transformer: tokens ", tokens.shape(),
                          " need a mask of that shape, got ", hidden.shape()));
}

}  // namespace heed
