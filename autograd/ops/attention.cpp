#include <heed/autograd/apply.h>
#include <heed/autograd/kernels/attention.h>
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
#include <cstdlib>
#include <utility>
#include <vector>

namespace heed {
namespace {

/// (B, T, H D) as (B, H, T, D).
Shape split_shape(const Tensor& x, std::int64_t heads) {
  if (x.ndim() != 3 || heads < 1 || x.dim(2) % heads != 0)
    throw ShapeError(text("attention: ", heads, " heads for shape ", x.shape(),
                          "; expected (B, T, C) with C a multiple of the heads"));
  return {x.dim(0), heads, x.dim(1), x.dim(2) / heads};
}

/// The same, or where the heads lie apart and none are counted, the shape itself.
Shape by_head(const Tensor& x, std::int64_t heads) {
  return heads ? split_shape(x, heads) : x.shape();
}

void require_fit(const Shape& q, const Shape& k) {
  if (q.size() != 4 || k.size() != 4 || q[0] != k[0] || q[3] != k[3] || k[1] == 0 ||
      q[1] % k[1] != 0)
    throw ShapeError(text("attention: q ", q, " and k ", k,
                          "; expected (B, H, Tq, D) and (B, Hkv, Tk, D), Hkv a divisor of H"));
}

void require_fit(const Shape& q, const Shape& k, const Shape& v, const Mask& hidden) {
  require_fit(q, k);
  if (v.size() != 4 || v[0] != k[0] || v[1] != k[1] || v[2] != k[2])
    throw ShapeError(text("attention: k ", k, " and v ", v, " differ in batch, heads or time"));
  const Shape cells{q[0], q[1], q[2], k[2]};
  if (hidden.defined() && !broadcasts_to(hidden.shape(), cells))
    throw ShapeError(text("attention: hidden ", hidden.shape(), " does not broadcast to ", cells));
}

double scale_of(const AttentionOptions& options, std::int64_t width) {
  return options.scale.value_or(1 / std::sqrt(static_cast<double>(width)));
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
  require_fit(q.shape(), k.shape());
  detail::require_same_dtype("attention", q, k);
  const Tensor keys = repeat_heads(k, q.dim(1));
  Tensor scores = matmul(q * scale_of(options, q.dim(3)), keys, {.transpose_b = true});
  if (options.alibi)  // scores: (B, H, Tq, Tk)
    scores = scores + alibi_bias(q.dim(1), q.dim(2), k.dim(2), q.dtype());
  Mask hidden = options.hidden;
  if (options.causal) {
    const Mask future = causal_mask(q.dim(2), k.dim(2));
    hidden = hidden.defined() ? hidden | future : future;
  }
  if (hidden.defined()) scores = masked_fill(scores, hidden, -infinity);
  return softmax(scores);
}

namespace ops {

/// The heads of q lie apart, (B, H, T, D), or so many of them side by side, (B, T, H D).
struct Attention {
  static constexpr std::string_view name = "attention";
  static constexpr Saves saves = Saves::inputs | Saves::output;
  AttentionOptions options;
  std::int64_t heads = 0, kv_heads = 0;  // 0: apart
  detail::Drop drop = {};
  std::vector<kernels::AttentionRow, CacheAllocator<kernels::AttentionRow>> rows =
      {};  // (B, H, Tq)

  Tensor forward(const Tensor& q, const Tensor& k, const Tensor& v) {
    const kernels::Attention a = kernel(q, k, v);
    Shape shape = q.shape();
    shape.back() = (heads ? heads : 1) * a.value_width;
    Tensor y = empty(shape, q.dtype());
    rows.resize(static_cast<std::size_t>(a.batch * a.heads * a.queries));
    dispatch(q.dtype(), [&](auto t) {
      using T = decltype(t);
      kernels::attention_forward<T>(a, heads_of<T>(q, heads), heads_of<T>(k, kv_heads),
                                    heads_of<T>(v, kv_heads), to_heads<T>(y, heads), rows.data());
    });
    return y;
  }

  Tensor composed(const Tensor& q, const Tensor& k, const Tensor& v) const {
    if (!heads) return attend(q, k, v);
    return merge_heads(
        attend(split_heads(q, heads), split_heads(k, kv_heads), split_heads(v, kv_heads)));
  }

  Grads backward(const Context& ctx, const Tensor& g) const {
    const Tensor q = ctx.input(0), k = ctx.input(1), v = ctx.input(2), y = ctx.output();
    Grads grads;
    for (const Tensor& x : {q, k, v}) grads.push_back(empty(x.shape(), x.dtype()));
    dispatch(q.dtype(), [&](auto t) {
      using T = decltype(t);
      kernels::attention_backward<T>(kernel(q, k, v), heads_of<T>(q, heads),
                                     heads_of<T>(k, kv_heads), heads_of<T>(v, kv_heads),
                                     heads_of<T>(y, heads), heads_of<T>(g, heads), rows.data(),
                                     to_heads<T>(grads[0], heads), to_heads<T>(grads[1], kv_heads),
                                     to_heads<T>(grads[2], kv_heads));
    });
    for (std::size_t i = 0; i < grads.size(); ++i)
      if (!ctx.needs(i)) grads[i] = {};
    return grads;
  }

 private:
  Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v) const {
    const Tensor weights = drop(attention_weights(q, k, options));
    return matmul(weights, repeat_heads(v, q.dim(1)));  // (B, H, Tq, D)
  }

  kernels::Attention kernel(const Tensor& q, const Tensor& k, const Tensor& v) const {
    const Shape of_q = by_head(q, heads), of_k = by_head(k, kv_heads), of_v = by_head(v, kv_heads);
    kernels::Attention a{.batch = of_q[0],
                         .heads = of_q[1],
                         .kv_heads = of_k[1],
                         .queries = of_q[2],
                         .keys = of_k[2],
                         .width = of_q[3],
                         .value_width = of_v[3],
                         .scale = scale_of(options, of_q[3]),
                         .causal = options.causal,
                         .alibi = options.alibi,
                         .drop = drop.p,
                         .draws = drop.draws};
    if (!options.hidden.defined()) return a;
    a.hidden = options.hidden.data().data();
    const Shape& shape = options.hidden.shape();
    std::int64_t step = 1;
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      if (shape[axis] != 1) a.hidden_step[axis + 4 - shape.size()] = step;
      step *= shape[axis];
    }
    return a;
  }

  template <class T, class X>
  static kernels::HeadRows<T> strided(T* data, const X& x, std::int64_t heads) {
    const Shape s = by_head(x, heads);
    if (heads) return {data, s[2] * s[1] * s[3], s[3], s[1] * s[3]};
    return {data, s[1] * s[2] * s[3], s[2] * s[3], s[3]};
  }
  template <class T>
  static kernels::HeadRows<const T> heads_of(const Tensor& x, std::int64_t heads) {
    return strided(x.data<T>().data(), x, heads);
  }
  template <class T>
  static kernels::HeadRows<T> to_heads(Tensor& x, std::int64_t heads) {
    return strided(x.mutate<T>().data(), x, heads);
  }
};

}  // namespace ops

namespace {

Tensor checked(ops::Attention op, const Tensor& q, const Tensor& k, const Tensor& v) {
  const Shape of_q = by_head(q, op.heads), of_k = by_head(k, op.kv_heads);
  require_fit(of_q, of_k, by_head(v, op.kv_heads), op.options.hidden);
  detail::require_same_dtype("attention", q, k);
  detail::require_same_dtype("attention", k, v);
  op.drop = detail::Drop::next(op.options.dropout, of_q[0] * of_q[1] * of_q[2] * of_k[2]);
  return apply(std::move(op), q, k, v);
}

}  // namespace

Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    AttentionOptions options) {
  return checked({std::move(options)}, q, k, v);
}

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, MultiHeadOptions options) {
  const std::int64_t heads = options.heads, kv_heads = options.kv_heads ? options.kv_heads : heads;
  if (q.ndim() != 3 || k.ndim() != 3 || heads == 0 || q.dim(2) * kv_heads != k.dim(2) * heads)
    throw ShapeError(text("attention: q ", q.shape(), " and k ", k.shape(), " for ", heads, " and ",
                          kv_heads, " heads; expected (B, Tq, H D) and (B, Tk, Hkv D)"));
  return checked({{options.hidden, options.causal, options.scale, options.dropout, options.alibi},
                  heads,
                  kv_heads},
                 q, k, v);
}

Tensor alibi_bias(std::int64_t heads, std::int64_t queries, std::int64_t keys, DType dtype) {
  if (heads < 1) throw ValueError(text("alibi_bias: heads = ", heads, " must be at least 1"));
  const Shape shape{heads, queries, keys};
  std::vector<double> bias;
  bias.reserve(static_cast<std::size_t>(shape.numel()));
  for (std::int64_t h = 0; h < heads; ++h) {
    const double slope = kernels::alibi_slope(h, heads);
    for (std::int64_t i = 0; i < queries; ++i)
      for (std::int64_t j = 0; j < keys; ++j)
        bias.push_back(-slope * static_cast<double>(std::abs(i + keys - queries - j)));
  }
  return tensor(std::move(bias), shape, dtype);
}

}  // namespace heed
