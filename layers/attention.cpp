#include <heed/autograd/error.h>
#include <heed/autograd/observe.h>
#include <heed/autograd/ops/attention.h>
#include <heed/autograd/ops/dropout.h>
#include <heed/autograd/ops/matmul.h>
#include <heed/autograd/ops/shape.h>
#include <heed/layers/attention.h>

#include <utility>

namespace heed {
namespace {

std::int64_t checked_heads(std::int64_t heads, std::int64_t d_model) {
  require_heads(heads, d_model);
  return heads;
}

}  // namespace

MultiHeadAttention::MultiHeadAttention(std::int64_t d_model, std::int64_t head_count, Rng& rng,
                                       AttentionConfig options)
    : heads(checked_heads(head_count, d_model)),
      config(options),
      w_q(d_model, d_model, rng),
      w_k(d_model, d_model, rng, {.bias = false}),
      w_v(d_model, d_model, rng),
      w_o(d_model, d_model, rng) {}

Tensor MultiHeadAttention::operator()(const Tensor& x, const Mask& hidden) const {
  return (*this)(x, x, hidden);
}

Tensor MultiHeadAttention::operator()(const Tensor& x, const Tensor& memory,
                                      const Mask& hidden) const {
  const Tensor q = w_q(x), k = w_k(memory), v = w_v(memory);  // (B, T, C)
  return attend(q, k, v, hidden);
}

Tensor MultiHeadAttention::operator()(const Tensor& x, KeysValues& past, const Mask& hidden) const {
  if (!config.causal)
    throw ValueError(
        "attention: a cache needs causal = true: what was read before cannot see what is new");
  const Tensor q = w_q(x), k = w_k(x), v = w_v(x);  // (B, t, C)
  KeysValues all = past.then(k, v);                 // (B, T + t, C)
  Tensor y = attend(q, all.keys, all.values, hidden);
  past = std::move(all);
  return y;
}

Tensor MultiHeadAttention::attend(const Tensor& q, const Tensor& k, const Tensor& v,
                                  const Mask& hidden) const {
  const auto weights = [&] {  // (B, H, Tq, Tk)
    return attention_weights(split_heads(q, heads), split_heads(k, heads),
                             {.hidden = hidden, .causal = config.causal, .scale = config.scale});
  };
  if (intervened(*this, "weights")) {
    const Tensor a = observe(*this, "weights", weights());
    return w_o(merge_heads(matmul(dropout(a, config.dropout), split_heads(v, heads))));
  }
  const Tensor y = attention(q, k, v,
                             {.heads = heads,
                              .hidden = hidden,
                              .causal = config.causal,
                              .scale = config.scale,
                              .dropout = config.dropout});  // (B, Tq, C)
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

void require_heads(std::int64_t heads, std::int64_t d_model) {
  if (heads < 1) throw ValueError(text("heads = ", heads, " must be at least 1"));
  if (d_model < 1) throw ValueError(text("d_model = ", d_model, " must be at least 1"));
  if (d_model % heads != 0)
    throw ValueError(text("heads = ", heads, " does not divide d_model = ", d_model,
                          "; every head gets d_model / heads channels"));
}

}  // namespace heed
