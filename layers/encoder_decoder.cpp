#include <heed/autograd/error.h>
#include <heed/layers/encoder_decoder.h>
#include <heed/layers/residual.h>
#include <heed/layers/start.h>

#include <utility>

namespace heed {
namespace {

TransformerConfig all_seeing(TransformerConfig config) {
  config.causal = false;
  return config;
}

AttentionConfig cross_config(const TransformerConfig& config) {
  AttentionConfig cross = attention_config(config);
  cross.causal = false;
  cross.positions = Positions::none;
  return cross;
}

void require_same_batch(const Tokens& tokens, const Shape& memory) {
  if (memory.size() != 3 || (tokens.ndim() == 2 && tokens.dim(0) != memory[0]))
    throw ShapeError(text("decoder: tokens ", tokens.shape(), " and memory ", memory,
                          "; expected (B, T) and (B, S, C)"));
}

}  // namespace

Encoder::Encoder(const TransformerConfig& config, Rng& rng)
    : InputEmbedding(validate(config), rng),
      final_norm(config.d_model, final_norm_options(config)) {
  for (std::int64_t i = 0; i < config.layers; ++i) blocks.emplace_back(all_seeing(config), rng);
  start_as_gpt2(*this, rng, 2);
}

Tensor Encoder::operator()(const Tokens& memory, const Mask& hidden) const {
  require_padding_of(memory, hidden);
  Tensor x = embed(memory);  // (B, S, C)
  for (const TransformerBlock& block : blocks) x = block(x, padding_mask(hidden));
  return final_norm(x);
}

void Encoder::visit(Visitor& v) {
  InputEmbedding::visit(v);
  v("blocks", blocks);
  v("final_norm", final_norm);
}

DecoderBlock::DecoderBlock(const TransformerConfig& config, Rng& rng)
    : place(config.norm),
      norm1(config.d_model, norm_options(config)),
      attention(config.d_model, config.heads, rng, attention_config(config)),
      norm2(config.d_model, norm_options(config)),
      cross(config.d_model, config.heads, rng, cross_config(config)),
      dropout(config.dropout) {
  if (config.activation == Activation::none) return;
  norm3.emplace(config.d_model, norm_options(config));
  mlp.emplace(config.d_model, mlp_width(config), rng, config.activation);
}

Tensor DecoderBlock::operator()(const Tensor& x, const Tensor& memory, const Mask& hidden) const {
  Tensor y = add_part(x, norm1, place, dropout, attention);
  y = add_part(y, norm2, place, dropout,
               [&](const Tensor& in) { return cross(in, memory, hidden); });
  return mlp ? add_part(y, *norm3, place, dropout, *mlp) : y;
}

Tensor DecoderBlock::operator()(const Tensor& x, KeysValues& past, const KeysValues& memory,
                                const Mask& hidden) const {
  Tensor y =
      add_part(x, norm1, place, dropout, [&](const Tensor& in) { return attention(in, past); });
  y = add_part(y, norm2, place, dropout,
               [&](const Tensor& in) { return cross.across(in, memory, hidden); });
  return mlp ? add_part(y, *norm3, place, dropout, *mlp) : y;
}

std::vector<Tensor> DecoderBlock::last_maps() const {
  std::vector<Tensor> maps{attention.w_o.weight, cross.w_o.weight};
  if (mlp) maps.push_back(mlp->down.weight);
  return maps;
}

void DecoderBlock::visit(Visitor& v) {
  v("norm1", norm1);
  v("attention", attention);
  v("norm2", norm2);
  v("cross", cross);
  v("norm3", norm3);
  v("mlp", mlp);
  v("dropout", dropout);
}

Decoder::Decoder(const TransformerConfig& config, Rng& rng)
    : InputEmbedding(validate(config), rng),
      final_norm(config.d_model, final_norm_options(config)) {
  for (std::int64_t i = 0; i < config.layers; ++i) blocks.emplace_back(config, rng);
  if (!config.tied_embedding)
    head.emplace(config.d_model, config.vocabulary, rng, LinearOptions{.bias = false});
  start_as_gpt2(*this, rng, 3);
}

Tensor Decoder::operator()(const Tokens& tokens, const Tensor& memory, const Mask& hidden) const {
  require_same_batch(tokens, memory.shape());
  Tensor x = embed(tokens);  // (B, T, C)
  for (const DecoderBlock& block : blocks) x = block(x, memory, padding_mask(hidden));
  return logits(final_norm(x), head);  // (B, T, V)
}

DecoderCache Decoder::look_at(const Tensor& memory, const Mask& hidden) const {
  DecoderCache cache;
  cache.hidden = padding_mask(hidden);
  cache.written.layers.resize(blocks.size());
  for (const DecoderBlock& block : blocks) cache.memory.push_back(block.cross.keys_values(memory));
  return cache;
}

Tensor Decoder::operator()(const Tokens& tokens, DecoderCache& cache) const {
  if (cache.memory.size() != blocks.size())
    throw ValueError(text("decoder: the cache is that of ", cache.memory.size(),
                          " layers, the model has ", blocks.size(), "; start from look_at"));
  require_same_batch(tokens, cache.memory.front().keys.shape());
  KvCache longer = cache.written;
  Tensor x = embed(tokens, longer.length());  // (B, t, C)
  longer.hide({}, tokens.shape());
  for (std::size_t i = 0; i < blocks.size(); ++i)
    x = blocks[i](x, longer.layers[i], cache.memory[i], cache.hidden);
  Tensor y = logits(final_norm(x), head);  // (B, t, V)
  cache.written = std::move(longer);
  return y;
}

void Decoder::visit(Visitor& v) {
  InputEmbedding::visit(v);
  v("blocks", blocks);
  v("final_norm", final_norm);
  v("head", head);
}

EncoderDecoder::EncoderDecoder(const TransformerConfig& options, Rng& rng)
    : config(validate(options)), encoder(options, rng), decoder(options, rng) {
  if (options.tied_embedding) decoder.token_embedding = encoder.token_embedding;
}

Tensor EncoderDecoder::operator()(const Tokens& memory, const Tokens& tokens,
                                  const Mask& hidden) const {
  return decoder(tokens, encoder(memory, hidden), hidden);
}

DecoderCache EncoderDecoder::read(const Tokens& memory, const Mask& hidden) const {
  return decoder.look_at(encoder(memory, hidden), hidden);
}

void EncoderDecoder::visit(Visitor& v) {
  v("encoder", encoder);
  v("decoder", decoder);
}

}  // namespace heed
