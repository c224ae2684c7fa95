#include <heed/autograd/error.h>
#include <heed/layers/residual.h>
#include <heed/layers/start.h>
#include <heed/layers/transformer.h>

#include <utility>

namespace heed {

TransformerBlock::TransformerBlock(const TransformerConfig& config, Rng& rng)
    : place(config.norm),
      norm1(config.d_model, norm_options(config)),
      attention(config.d_model, config.heads, rng, attention_config(config)),
      dropout(config.dropout) {
  if (config.activation == Activation::none) return;
  norm2.emplace(config.d_model, norm_options(config));
  mlp.emplace(config.d_model, mlp_width(config), rng, config.activation);
}

Tensor TransformerBlock::operator()(const Tensor& x, const Mask& hidden) const {
  return with_mlp(
      add_part(x, norm1, place, dropout, [&](const Tensor& in) { return attention(in, hidden); }));
}

Tensor TransformerBlock::operator()(const Tensor& x, KeysValues& past, const Mask& hidden) const {
  return with_mlp(add_part(x, norm1, place, dropout,
                           [&](const Tensor& in) { return attention(in, past, hidden); }));
}

Tensor TransformerBlock::with_mlp(const Tensor& x) const {
  return mlp ? add_part(x, *norm2, place, dropout, *mlp) : x;
}

std::vector<Tensor> TransformerBlock::last_maps() const {
  std::vector<Tensor> maps{attention.w_o.weight};
  if (mlp) maps.push_back(mlp->down.weight);
  return maps;
}

void TransformerBlock::visit(Visitor& v) {
  v("norm1", norm1);
  v("attention", attention);
  v("norm2", norm2);
  v("mlp", mlp);
  v("dropout", dropout);
}

Transformer::Transformer(const TransformerConfig& options, Rng& rng)
    : InputEmbedding(validate(options), rng),
      config(options),
      final_norm(options.d_model, final_norm_options(options)) {
  for (std::int64_t i = 0; i < options.layers; ++i) blocks.emplace_back(options, rng);
  if (!options.tied_embedding)
    head.emplace(options.d_model, options.vocabulary, rng, LinearOptions{.bias = false});
  start_as_gpt2(*this, rng, 2);
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
  require_padding_of(tokens, hidden);
  const std::int64_t start = cache ? cache->length() : 0;
  Tensor x = embed(tokens, start);  // (B, T, C)
  if (cache) cache->hide(hidden, tokens.shape());
  const Mask padding = padding_mask(cache ? cache->hidden : hidden);  // (B, 1, 1, start + T)
  for (std::size_t i = 0; i < blocks.size(); ++i)
    x = cache ? blocks[i](x, cache->layers[i], padding) : blocks[i](x, padding);
  return logits(final_norm(x), head);  // (B, T, V)
}

void Transformer::visit(Visitor& v) {
  InputEmbedding::visit(v);
  v("blocks", blocks);
  v("final_norm", final_norm);
  v("head", head);
}

}  // namespace heed
