// Every op with a kernel of its own against its formula in plain ops, in value, gradient and second
// gradient: whatever the shapes, the masks and the inputs that ask for a gradient.
#include <cmath>
#include <numbers>

#include "property.h"

namespace heed::property {
namespace {

using Function = std::function<Tensor(const List&)>;

/// Both gradients of the op, that of the kernel and the one with a graph, and the gradients of the
/// latter are those of the formula.
void expect_formula(const Function& op, const Function& formula, List xs) {
  List wanted;
  for (Tensor& x : xs)
    if (coin()) wanted.push_back(x.requires_grad_());
  const Tensor y = op(xs), z = formula(xs);
  expect_same(y, z, "value");
  if (wanted.empty()) return;

  const Tensor g = any_tensor(y.shape()).requires_grad_();
  const List expected = grad(z, wanted, {.create_graph = true, .seed = g});
  const List kernel = grad(y, wanted, {.retain_graph = true, .seed = g});
  const List composed = grad(y, wanted, {.create_graph = true, .seed = g});
  Tensor along = zeros({}, f64), along_expected = zeros({}, f64);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    expect_same(kernel[i], expected[i], text("gradient ", i, " by the kernel"));
    expect_same(composed[i], expected[i], text("gradient ", i, " with a graph"));
    const Tensor direction = any_tensor(wanted[i].shape());
    along = along + sum(composed[i] * direction);
    along_expected = along_expected + sum(expected[i] * direction);
  }
  wanted.push_back(g);
  const List second = grad(along, wanted), second_expected = grad(along_expected, wanted);
  for (std::size_t i = 0; i < wanted.size(); ++i)
    expect_same(second[i], second_expected[i], text("second gradient ", i), 1e-9);
}

/// The shape without its last axis.
Shape rows_of(const Shape& shape) {
  Shape rows = shape;
  rows.erase(rows.size() - 1);
  return rows;
}

Tensor plain_softmax(const Tensor& x, const Mask& hidden) {
  const Tensor top = amax(x, -1, true).detach();
  Tensor e = exp(x - top);
  if (hidden.defined()) e = masked_fill(e, hidden, 0);
  const Tensor total = sum(e, -1, true);
  return e / masked_fill(total, total == 0, 1);  // a row with nothing left: zeros
}

RC_GTEST_PROP(Formula, LayerNorm, ()) {
  const Shape shape = any_shape(1, 4);
  RC_PRE(shape.back() > 0);
  const double eps = *rc::gen::element(1e-5, 0.1);
  const bool w = coin(), b = coin();
  List xs{any_tensor(shape)};
  if (w) xs.push_back(any_tensor({shape.back()}));
  if (b) xs.push_back(any_tensor({shape.back()}));
  const auto weight = [=](const List& x) { return w ? x[1] : Tensor(); };
  const auto bias = [=](const List& x) { return b ? x.back() : Tensor(); };
  expect_formula([=](const List& x) { return layer_norm(x[0], weight(x), bias(x), eps); },
                 [=](const List& x) {
                   const Tensor away = x[0] - mean(x[0], -1, true);
                   Tensor y = away / sqrt(mean(away * away, -1, true) + eps);
                   if (w) y = y * weight(x);
                   return b ? y + bias(x) : y;
                 },
                 xs);
}

RC_GTEST_PROP(Formula, RmsNorm, ()) {
  const Shape shape = any_shape(1, 4);
  RC_PRE(shape.back() > 0);
  const bool w = coin();
  List xs{any_tensor(shape)};
  if (w) xs.push_back(any_tensor({shape.back()}));
  expect_formula([=](const List& x) { return rms_norm(x[0], w ? x[1] : Tensor()); },
                 [=](const List& x) {
                   const Tensor y = x[0] / sqrt(mean(x[0] * x[0], -1, true) + 1e-6);
                   return w ? y * x[1] : y;
                 },
                 xs);
}

RC_GTEST_PROP(Formula, CrossEntropy, ()) {
  const Shape shape = any_shape(1, 4);
  RC_PRE(shape.back() > 0);
  const Shape rows = rows_of(shape);
  CrossEntropyOptions options{
      .label_smoothing = *rc::gen::element(0., 0.1, 1.),
      .reduction = *rc::gen::element(Reduction::none, Reduction::sum, Reduction::mean)};
  Rng rng = any_rng();
  const Mask ignored = any_mask(rows);
  std::vector<std::int64_t> ids, chosen;
  for (const std::uint8_t skip : ignored.data()) {
    chosen.push_back(rng.integer(shape.back()));
    ids.push_back(skip ? kIgnore : chosen.back());
  }
  const Tokens targets = tokens(ids, rows);
  const Tensor one = one_hot(tokens(chosen, rows), shape.back(), f64);
  const double s = options.label_smoothing;
  const Tensor goal = (1 - s) * one + s / static_cast<double>(shape.back());
  const double count = static_cast<double>(rows.numel() - ignored.count());
  expect_formula([=](const List& x) { return cross_entropy(x[0], targets, options); },
                 [=](const List& x) {
                   const Tensor log_p = x[0] - log(sum(exp(x[0]), -1, true));
                   const Tensor loss = masked_fill(-sum(goal * log_p, -1), ignored, 0);
                   if (options.reduction == Reduction::none) return loss;
                   const bool mean = options.reduction == Reduction::mean;
                   return sum(loss) / (mean && count > 0 ? count : 1);
                 },
                 {any_tensor(shape)});
}

RC_GTEST_PROP(Formula, Linear, ()) {
  const Shape shape = any_shape(1, 4);
  const std::int64_t out = between(1, 5);
  const bool bias = coin();
  List xs{any_tensor(shape), any_tensor({shape.back(), out})};
  if (bias) xs.push_back(any_tensor({out}));
  Shape full = shape;
  full.back() = out;
  expect_formula([=](const List& x) { return linear(x[0], x[1], bias ? x[2] : Tensor()); },
                 [=](const List& x) {
                   const Tensor products = unsqueeze(x[0], -1) * x[1];  // (..., in, out)
                   const Tensor y = sum(products, -2);
                   return bias ? y + x[2] : y;
                 },
                 xs);
}

RC_GTEST_PROP(Formula, Gelu, ()) {
  const List xs{2 * any_tensor(any_shape(0, 3))};
  expect_formula([](const List& x) { return gelu(x[0]); },
                 [](const List& x) { return 0.5 * x[0] * (1 + erf(x[0] / std::numbers::sqrt2)); },
                 xs);
  expect_formula([](const List& x) { return gelu(x[0], Gelu::tanh); },
                 [](const List& x) {
                   const double c = std::sqrt(2 / std::numbers::pi);
                   return 0.5 * x[0] * (1 + tanh(c * (x[0] + 0.044715 * x[0] * x[0] * x[0])));
                 },
                 xs);
}

RC_GTEST_PROP(Formula, Silu, ()) {
  expect_formula([](const List& x) { return silu(x[0]); },
                 [](const List& x) { return x[0] / (1 + exp(-x[0])); },
                 {2 * any_tensor(any_shape(0, 3))});
}

RC_GTEST_PROP(Formula, SoftmaxOfMaskedRows, ()) {
  const Shape shape = any_shape(1, 4);
  RC_PRE(shape.back() > 0);
  const Mask hidden = any_mask(any_narrower(shape));
  expect_formula([=](const List& x) { return softmax(masked_fill(x[0], hidden, -infinity)); },
                 [=](const List& x) { return plain_softmax(x[0], hidden); }, {any_tensor(shape)});
}

/// Batch, heads, key heads and times of attention, and what it does not see.
struct AttentionCase {
  std::int64_t b = between(1, 2), kv_heads = between(1, 2), heads = kv_heads * between(1, 2);
  std::int64_t queries = time(), keys = time(), d = between(1, 3);
  bool causal = coin();
  double dropout = *rc::gen::element(0., 0., 0.5);
  std::uint32_t seed = *rc::gen::arbitrary<std::uint32_t>();
  double scale = *rc::gen::element(1., 0.4);
  Mask hidden = coin() ? any_mask(any_narrower({b, heads, queries, keys})) : Mask();

  /// Mostly short, now and then more than a tile of 64.
  static std::int64_t time() { return between(0, 9) > 0 ? between(1, 5) : between(60, 70); }

  /// `call()` with weights dropped, the same ones each time.
  template <class Call>
  Tensor in_training(Call call) const {
    Rng rng(seed);
    const Training scope(rng);
    return call();
  }

  /// softmax(q kᵀ · scale) v, head by head.
  Tensor formula(const Tensor& q, const Tensor& k, const Tensor& v) const {
    List per_head;
    const Tensor kept = in_training([&] {
      return heed::dropout(ones({b, heads, queries, keys}, f64), dropout);
    });
    for (std::int64_t h = 0; h < heads; ++h) {
      const std::int64_t from = h / (heads / kv_heads);
      const Tensor query = slice(q, 1, h, h + 1), key = slice(k, 1, from, from + 1);
      const Tensor products = unsqueeze(query, 3) * unsqueeze(key, 2);  // (B, 1, Tq, Tk, D)
      Mask unseen = hide(h);
      const Tensor weights = plain_softmax(sum(products, -1) * scale, unseen);
      per_head.push_back(matmul(weights * slice(kept, 1, h, h + 1), slice(v, 1, from, from + 1)));
    }
    return concat(per_head, 1);
  }

 private:
  /// What head h does not see, (B, 1, Tq, Tk).
  Mask hide(std::int64_t h) const {
    std::vector<bool> result;
    const Array cells{hidden.defined() ? hidden.shape() : Shape{1},
                      hidden.defined()
                          ? std::vector<double>(hidden.data().begin(), hidden.data().end())
                          : std::vector<double>{0}};
    for (const Index& i : reference::indices({b, queries, keys}))
      result.push_back(cells({i[0], h, i[1], i[2]}) == 1 ||
                       (causal && i[2] > i[1] + keys - queries));
    return mask(result, {b, 1, queries, keys});
  }
};

RC_GTEST_PROP(Formula, ScaledDotProductAttention, ()) {
  const AttentionCase c;
  const List xs{any_tensor({c.b, c.heads, c.queries, c.d}),
                any_tensor({c.b, c.kv_heads, c.keys, c.d}),
                any_tensor({c.b, c.kv_heads, c.keys, between(1, 3)})};
  expect_formula(
      [&](const List& x) {
        return c.in_training([&] {
          return scaled_dot_product_attention(
              x[0], x[1], x[2],
              {.hidden = c.hidden, .causal = c.causal, .scale = c.scale, .dropout = c.dropout});
        });
      },
      [&](const List& x) { return c.formula(x[0], x[1], x[2]); }, xs);
}

RC_GTEST_PROP(Formula, AttentionOfHeadsSideBySide, ()) {
  const AttentionCase c;
  const List xs{any_tensor({c.b, c.queries, c.heads * c.d}),
                any_tensor({c.b, c.keys, c.kv_heads * c.d}),
                any_tensor({c.b, c.keys, c.kv_heads * c.d})};
  expect_formula(
      [&](const List& x) {
        return c.in_training([&] {
          return attention(x[0], x[1], x[2],
                           {.heads = c.heads,
                            .kv_heads = c.kv_heads,
                            .hidden = c.hidden,
                            .causal = c.causal,
                            .scale = c.scale,
                            .dropout = c.dropout});
        });
      },
      [&](const List& x) {
        return merge_heads(c.formula(split_heads(x[0], c.heads), split_heads(x[1], c.kv_heads),
                                     split_heads(x[2], c.kv_heads)));
      },
      xs);
}

}  // namespace
}  // namespace heed::property
