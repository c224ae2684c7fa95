#include <heed/autograd/error.h>
#include <heed/autograd/observe.h>
#include <heed/autograd/ops/attention.h>
#include <heed/autograd/ops/dropout.h>
#include <heed/autograd/ops/matmul.h>
#include <heed/autograd/ops/shape.h>
#include <heed/layers/attention.h>

#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

namespace heed {
namespace {

std::int64_t validated(const AttentionConfig& config, std::int64_t d_model, std::int64_t heads) {
  validate(config, d_model, heads);
  return heads;
}

/// (C, Hkv D): the width of keys and values side by side.
std::int64_t key_width(const AttentionConfig& config, std::int64_t d_model, std::int64_t heads) {
  return config.kv_heads ? d_model / heads * config.kv_heads : d_model;
}

/// The values (B, Hkv, Tk, D) mixed by the weights (B, H, Tq, Tk): (B, H, Tq, D).
Tensor mix(const Tensor& weights, const Tensor& values) {
  const std::int64_t batch = weights.dim(0), heads = weights.dim(1), queries = weights.dim(2);
  const std::int64_t shared = values.dim(1), group = heads / shared;
  const Tensor by_group = reshape(weights, {batch, shared, group * queries, weights.dim(3)});
  return reshape(matmul(by_group, values), {batch, heads, queries, values.dim(3)});
}

}  // namespace

void validate(const AttentionConfig& config, std::int64_t d_model, std::int64_t heads) {
  if (heads < 1) throw ValueError(text("heads = ", heads, " must be at least 1"));
  if (d_model < 1) throw ValueError(text("d_model = ", d_model, " must be at least 1"));
  if (d_model % heads != 0)
    throw ValueError(text("heads = ", heads, " does not divide d_model = ", d_model,
                          "; every head gets d_model / heads channels"));
  if (config.kv_heads < 0 || (config.kv_heads > 0 && heads % config.kv_heads != 0))
    throw ValueError(text("kv_heads = ", config.kv_heads, " must divide heads = ", heads,
                          ", or be 0 for as many"));
  if (config.scale && !(*config.scale > 0 && std::isfinite(*config.scale)))
    throw ValueError(text("scale = ", *config.scale, " must be a positive number"));
  if (!(config.dropout >= 0 && config.dropout <= 1))
    throw ValueError(text("dropout = ", config.dropout, " must be a probability, 0 to 1"));
  name(config.positions);
  if (config.positions == Positions::rotary && d_model / heads % 2 != 0)
    throw ValueError(text("positions = rotary turns pairs of channels, but d_model / heads = ",
                          d_model / heads, " is odd"));
}

MultiHeadAttention::MultiHeadAttention(std::int64_t d_model, std::int64_t head_count, Rng& rng,
                                       AttentionConfig options)
    : heads(validated(options, d_model, head_count)),
      config(options),
      w_q(d_model, d_model, rng),
      w_k(d_model, key_width(options, d_model, heads), rng, {.bias = false}),
      w_v(d_model, key_width(options, d_model, heads), rng),
      w_o(d_model, d_model, rng) {}

Tensor MultiHeadAttention::operator()(const Tensor& x, const Mask& hidden) const {
  return (*this)(x, x, hidden);
}

Tensor MultiHeadAttention::operator()(const Tensor& x, const Tensor& memory,
                                      const Mask& hidden) const {
  const Tensor q = placed(w_q(x), heads, memory.dim(1));  // (B, Tq, C)
  return attend(q, keys_values(memory), hidden);
}

KeysValues MultiHeadAttention::keys_values(const Tensor& memory) const {
  return {placed(w_k(memory), kv_heads(), memory.dim(1)), w_v(memory)};  // (B, Tk, Hkv D)
}

Tensor MultiHeadAttention::across(const Tensor& x, const KeysValues& memory,
                                  const Mask& hidden) const {
  return attend(placed(w_q(x), heads, memory.length()), memory, hidden);
}

Tensor MultiHeadAttention::operator()(const Tensor& x, KeysValues& past, const Mask& hidden) const {
  if (!config.causal)
    throw ValueError(
        "attention: a cache needs causal = true: what was read before cannot see what is new");
  const std::int64_t end = past.length() + x.dim(1);
  const Tensor q = placed(w_q(x), heads, end), k = placed(w_k(x), kv_heads(), end);
  KeysValues all = past.then(k, w_v(x));  // (B, T + t, Hkv D)
  Tensor y = attend(q, all, hidden);
  past = std::move(all);
  return y;
}

Tensor MultiHeadAttention::placed(const Tensor& x, std::int64_t count, std::int64_t end) const {
  if (config.positions != Positions::rotary) return x;
  const std::int64_t time = x.dim(1);
  std::vector<std::int64_t> positions(static_cast<std::size_t>(time));
  std::iota(positions.begin(), positions.end(), end - time);
  return merge_heads(rope(split_heads(x, count), tokens(std::move(positions), {time})));
}

Tensor MultiHeadAttention::attend(const Tensor& q, const KeysValues& kv, const Mask& hidden) const {
  const bool alibi = config.positions == Positions::alibi;
  const auto weights = [&] {  // (B, H, Tq, Tk)
    return attention_weights(
        split_heads(q, heads), split_heads(kv.keys, kv_heads()),
        {.hidden = hidden, .causal = config.causal, .scale = config.scale, .alibi = alibi});
  };
  if (intervened(*this, "weights")) {
    const Tensor a = observe(*this, "weights", weights());
    return w_o(merge_heads(mix(dropout(a, config.dropout), split_heads(kv.values, kv_heads()))));
  }
  const Tensor y = attention(q, kv.keys, kv.values,
                             {.heads = heads,
                              .kv_heads = kv_heads(),
                              .hidden = hidden,
                              .causal = config.causal,
                              .scale = config.scale,
                              .dropout = config.dropout,
                              .alibi = alibi});  // (B, Tq, C)
  observe(*this, "weights", weights);
  return w_o(y);
}

void MultiHeadAttention::visit(Visitor& v) {
  v("w_q", w_q);
  v("w_k", w_k);
  v("w_v", w_v);
  v("w_o", w_o);
}

Mask padding_mask(const Mask& hidden) {
  if (!hidden.defined()) return {};
  if (hidden.ndim() != 2)
    throw ShapeError(text("padding_mask: expects (B, T), got ", hidden.shape()));
  return hidden.reshape({hidden.dim(0), 1, 1, hidden.dim(1)});
}

}  // namespace heed
