#include <heed/autograd/error.h>
#include <heed/autograd/ops/arithmetic.h>
#include <heed/autograd/ops/matmul.h>
#include <heed/layers/init.h>
#include <heed/layers/transformer.h>

#include <cmath>
#include <utility>

namespace heed {
namespace {

const TransformerConfig& validated(const TransformerConfig& config) {
  validate(config);
  return config;
}

std::int64_t width_of_mlp(const TransformerConfig& config) {
  return config.d_ff == 0 ? 4 * config.d_model : config.d_ff;
}

}  // namespace

void validate(const TransformerConfig& config) {
  const auto at_least = [](std::string_view field, std::int64_t value, std::int64_t least) {
    if (value < least) throw ValueError(text(field, " = ", value, " must be at least ", least));
  };
  const auto positive = [](std::string_view field, double value) {
    if (!(value > 0 && std::isfinite(value)))
      throw ValueError(text(field, " = ", value, " must be a positive number"));
  };
  at_least("vocabulary", config.vocabulary, 1);
  at_least("context", config.context, 1);
  at_least("layers", config.layers, 1);
  require_heads(config.heads, config.d_model);
  at_least("d_ff", config.d_ff, 0);
  if (!(config.dropout >= 0 && config.dropout <= 1))
    throw ValueError(text("dropout = ", config.dropout, " must be a probability, 0 to 1"));
  name(config.activation);
  if (config.scale) positive("scale", *config.scale);
  positive("eps", config.eps);
}

TransformerBlock::TransformerBlock(const TransformerConfig& config, Rng& rng)
    : norm1(config.d_model, {.eps = config.eps}),
      attention(config.d_model, config.heads, rng,
                {.causal = config.causal, .scale = config.scale, .dropout = config.dropout}),
      norm2(config.d_model, {.eps = config.eps}),
      mlp(config.d_model, width_of_mlp(config), rng, config.activation),
      dropout(config.dropout) {}

Tensor TransformerBlock::operator()(const Tensor& x, const Mask& hidden) const {
  return with_mlp(x + dropout(attention(norm1(x), hidden)));
}

Tensor TransformerBlock::operator()(const Tensor& x, KeysValues& past, const Mask& hidden) const {
  return with_mlp(x + dropout(attention(norm1(x), past, hidden)));
}

Tensor TransformerBlock::with_mlp(const Tensor& y) const { return y + dropout(mlp(norm2(y))); }

void TransformerBlock::visit(Visitor& v) {
  v("norm1", norm1);
  v("attention", attention);
  v("norm2", norm2);
  v("mlp", mlp);
  v("dropout", dropout);
}

Transformer::Transformer(const TransformerConfig& options, Rng& rng)
    : config(validated(options)),
      token_embedding(options.vocabulary, options.d_model, rng),
      position_embedding(options.context, options.d_model, rng),
      dropout(options.dropout),
      final_norm(options.d_model, {.eps = options.eps}) {
  for (std::int64_t i = 0; i < options.layers; ++i) blocks.emplace_back(options, rng);
  if (!options.tied_embedding)
    head.emplace(options.d_model, options.vocabulary, rng, LinearOptions{.bias = false});

  init_normal(*this, rng, 0.02);
  const double residual = 1 / std::sqrt(2.0 * static_cast<double>(options.layers));
  for (TransformerBlock& block : blocks) {
    scale_(block.attention.w_o.weight, residual);
    scale_(block.mlp.down.weight, residual);
  }
}

Tensor Transformer::operator()(const Tokens& tokens, const Mask& hidden) const {
  return read(tokens, hidden, nullptr);
}

Tensor Transformer::operator()(const Tokens& tokens, KvCache& cache, const Mask& hidden) const {
  if (!cache.layers.empty() && cache.layers.size() != blocks.size())
    throw ValueError(text("transformer: the cache is that of ", cache.layers.size(),
                          " layers, the model has ", blocks.size()));
  KvCache longer = cache;
  longer.layers.resize(blocks.size());
  Tensor logits = read(tokens, hidden, &longer);
  cache = std::move(longer);
  return logits;
}

Tensor Transformer::read(const Tokens& tokens, const Mask& hidden, KvCache* cache) const {
  if (tokens.ndim() != 2)
    throw ShapeError(text("transformer: expects tokens (B, T), got ", tokens.shape()));
  if (hidden.defined() && hidden.shape() != tokens.shape())
    throw ShapeError(text("transformer: tokens ", tokens.shape(),
                          " need a mask of that shape, got ", hidden.shape()));
  const std::int64_t start = cache ? cache->length() : 0;
  if (cache) cache->hide(hidden, tokens.shape());
  const Mask padding = padding_mask(cache ? cache->hidden : hidden);  // (B, 1, 1, start + T)
  Tensor x =
      dropout(token_embedding(tokens) + position_embedding(tokens.dim(1), start));  // (B, T, C)
  for (std::size_t i = 0; i < blocks.size(); ++i)
    x = cache ? blocks[i](x, cache->layers[i], padding) : blocks[i](x, padding);
  x = final_norm(x);
  return head ? (*head)(x) : matmul(x, token_embedding.weight, {.transpose_b = true});  // (B, T, V)
}

void Transformer::visit(Visitor& v) {
  v("token_embedding", token_embedding);
  v("position_embedding", position_embedding);
  v("dropout", dropout);
  v("blocks", blocks);
  v("final_norm", final_norm);
  v("head", head);
}

}  // namespace heed
