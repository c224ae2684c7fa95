#include <heed/autograd/map.h>
#include <heed/autograd/ops/arithmetic.h>
#include <heed/autograd/ops/attention.h>
#include <heed/autograd/ops/dropout.h>
#include <heed/autograd/ops/elementwise.h>
#include <heed/autograd/ops/mask.h>
#include <heed/autograd/ops/matmul.h>
#include <heed/autograd/ops/shape.h>
#include <heed/autograd/ops/softmax.h>

#include <cmath>

namespace heed {
namespace {

void require_fit(const Tensor& q, const Tensor& k) {
  if (q.ndim() != 4 || k.ndim() != 4 || q.dim(0) != k.dim(0) || q.dim(3) != k.dim(3) ||
      k.dim(1) == 0 || q.dim(1) % k.dim(1) != 0)
    throw ShapeError(text("attention: q ", q.shape(), " and k ", k.shape(),
                          "; expected (B, H, Tq, D) and (B, Hkv, Tk, D), Hkv a divisor of H"));
  detail::require_same_dtype("attention", q, k);
}

/// (B, Hkv, T, D) to (B, H, T, D): each head stands for H / Hkv neighbours.
Tensor repeat_heads(const Tensor& x, std::int64_t heads) {
  if (x.dim(1) == heads) return x;
  const std::int64_t group = heads / x.dim(1);
  const Tensor wide =
      broadcast_to(unsqueeze(x, 2), {x.dim(0), x.dim(1), group, x.dim(2), x.dim(3)});
  return reshape(wide, {x.dim(0), heads, x.dim(2), x.dim(3)});
}

}  // namespace

Tensor attention_weights(const Tensor& q, const Tensor& k, AttentionOptions options) {
  require_fit(q, k);
  const double scale = options.scale.value_or(1 / std::sqrt(static_cast<double>(q.dim(3))));
  const Tensor keys = repeat_heads(k, q.dim(1));
  Tensor scores = matmul(q * scale, keys, {.transpose_b = true});  // (B, H, Tq, Tk)
  Mask hidden = options.hidden;
  if (options.causal) {
    const Mask future = causal_mask(q.dim(2), k.dim(2));
    hidden = hidden.defined() ? hidden | future : future;
  }
  if (hidden.defined()) scores = masked_fill(scores, hidden, -infinity);
  return softmax(scores);
}

Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    AttentionOptions options) {
  if (v.ndim() != 4 || v.dim(0) != k.dim(0) || v.dim(1) != k.dim(1) || v.dim(2) != k.dim(2))
    throw ShapeError(
        text("attention: k ", k.shape(), " and v ", v.shape(), " differ in batch, heads or time"));
  detail::require_same_dtype("attention", k, v);
  const double p = options.dropout;
  const Tensor weights = dropout(attention_weights(q, k, std::move(options)), p);
  return matmul(weights, repeat_heads(v, q.dim(1)));  // (B, H, Tq, D)
}

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, MultiHeadOptions options) {
  const std::int64_t kv_heads = options.kv_heads ? options.kv_heads : options.heads;
  if (q.ndim() != 3 || k.ndim() != 3 || q.dim(2) * kv_heads != k.dim(2) * options.heads)
    throw ShapeError(text("attention: q ", q.shape(), " and k ", k.shape(), " for ", options.heads,
                          " and ", kv_heads, " heads; expected (B, Tq, H D) and (B, Tk, Hkv D)"));
  return merge_heads(scaled_dot_product_attention(
      split_heads(q, options.heads), split_heads(k, kv_heads), split_heads(v, kv_heads),
      {options.hidden, options.causal, options.scale, options.dropout}));
}

Tensor rope(const Tensor& x, const Tokens& positions, double base) {
  if (x.ndim() < 2 || x.dim(-1) % 2 != 0 || positions.shape() != Shape{x.dim(-2)})
    throw ShapeError(text("rope: x ", x.shape(), " and positions ", positions.shape(),
                          "; expected (..., T, D) with even D, and (T)"));
  const std::int64_t time = x.dim(-2), half = x.dim(-1) / 2;
  std::vector<double> cosines, sines;
  for (const std::int64_t position : positions.data())
    for (std::int64_t i = 0; i < half; ++i) {
      const double frequency = std::pow(base, -static_cast<double>(i) / static_cast<double>(half));
      const double angle = static_cast<double>(position) * frequency;
      cosines.push_back(std::cos(angle));
      sines.push_back(std::sin(angle));
    }
  const Tensor c = tensor(std::move(cosines), {time, half}, x.dtype());
  const Tensor s = tensor(std::move(sines), {time, half}, x.dtype());
  const Tensor a = slice(x, -1, 0, half), b = slice(x, -1, half, 2 * half);
  return concat({a * c - b * s, a * s + b * c}, -1);
}

}  // namespace heed
