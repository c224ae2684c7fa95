#include <heed/autograd/autograd.h>

#include <array>
#include <cmath>

#include "op_table.h"

namespace heed::op_table {
namespace {

using reference::Index;

struct Sizes {
  std::int64_t batch = 2, heads = 2, kv_heads = 2, queries = 3, keys = 4, width = 2;
};

Shape query_shape(const Sizes& s) { return {s.batch, s.heads, s.queries, s.width}; }
Shape key_shape(const Sizes& s) { return {s.batch, s.kv_heads, s.keys, s.width}; }

/// (B, 1, Tq, Tk), with one query that sees no key.
Mask hidden_for(const Sizes& s) {
  std::vector<bool> hidden;
  for (std::int64_t b = 0; b < s.batch; ++b)
    for (std::int64_t i = 0; i < s.queries; ++i)
      for (std::int64_t j = 0; j < s.keys; ++j)
        hidden.push_back((b == 0 && i == 1) || (i + j) % 3 == 2);
  return mask(hidden, {s.batch, 1, s.queries, s.keys});
}

/// The slopes of the authors' own function: powers of the first, and for a number of heads that is
/// no power of two every second one of twice as many.
std::vector<double> slopes(std::int64_t heads) {
  const auto powers = [](std::int64_t n) {
    const double first = std::pow(2, -std::pow(2, -(std::log2(static_cast<double>(n)) - 3)));
    std::vector<double> result;
    for (std::int64_t h = 0; h < n; ++h)
      result.push_back(first * std::pow(first, static_cast<double>(h)));
    return result;
  };
  std::int64_t closest = 1;
  while (2 * closest <= heads) closest *= 2;
  std::vector<double> result = powers(closest);
  const std::vector<double> more = powers(2 * closest);
  for (std::int64_t h = 0; h < heads - closest; ++h)
    result.push_back(more[static_cast<std::size_t>(2 * h)]);
  return result;
}

/// What is added to the scores, (H, Tq, Tk).
Array bias(std::int64_t heads, std::int64_t queries, std::int64_t keys) {
  return reference::build({heads, queries, keys}, [=](const Index& at) {
    return -slopes(heads)[static_cast<std::size_t>(at[0])] *
           std::abs(static_cast<double>(at[1] + keys - queries - at[2]));
  });
}

/// The weights (B, H, Tq, Tk).
Array weights(const Array& q, const Array& k, const AttentionOptions& options) {
  const std::int64_t group = q.shape[1] / k.shape[1], width = q.shape[3];
  const std::int64_t queries = q.shape[2], keys = k.shape[2];
  const double scale = options.scale.value_or(1 / std::sqrt(static_cast<double>(width)));
  Array hidden;
  if (options.hidden.defined())
    hidden = {options.hidden.shape(), numbers(options.hidden).to_vector()};
  const Array tilt = bias(q.shape[1], queries, keys);
  const Array scores =
      reference::build({q.shape[0], q.shape[1], queries, keys}, [&](const Index& at) {
        if (options.causal && at[3] > at[2] + keys - queries) return -infinity;
        if (options.hidden.defined() && hidden(at) != 0) return -infinity;
        double score = 0;
        for (std::int64_t d = 0; d < width; ++d)
          score += q({at[0], at[1], at[2], d}) * k({at[0], at[1] / group, at[3], d});
        return score * scale + (options.alibi ? tilt({at[1], at[2], at[3]}) : 0);
      });
  return reference::along(scores, 3, reference::softmax);
}

/// In training, with a generator made anew for each call.
Tensor in_training(const std::function<Tensor()>& call) {
  Rng rng(3);
  const Training scope(rng);
  return call();
}

Array attend(const Array& q, const Array& k, const Array& v, const AttentionOptions& options) {
  Array p = weights(q, k, options);
  Rng rng(3);
  if (options.dropout > 0)
    for (double& weight : p.values)
      weight = rng.uniform() < options.dropout ? 0 : weight / (1 - options.dropout);
  const std::int64_t group = q.shape[1] / v.shape[1];
  return reference::build({q.shape[0], q.shape[1], q.shape[2], v.shape[3]}, [&](const Index& at) {
    double total = 0;
    for (std::int64_t j = 0; j < v.shape[2]; ++j)
      total += p({at[0], at[1], at[2], j}) * v({at[0], at[1] / group, j, at[3]});
    return total;
  });
}

struct Setting {
  std::string label;
  Sizes sizes;
  AttentionOptions options;
};

std::vector<Setting> settings() {
  const Sizes plain, grouped = {.heads = 4}, square = {.queries = 4};
  return {{"plain", plain, {}},
          {"causal", square, {.causal = true}},
          {"causal, fewer queries", plain, {.causal = true}},
          {"hidden", plain, {.hidden = hidden_for(plain)}},
          {"hidden and causal", square, {.hidden = hidden_for(square), .causal = true}},
          {"hidden by key", plain, {.hidden = mask({false, true, false, true}, {4})}},
          {"hidden by head",
           plain,
           {.hidden = mask({false, true, false, true, true, true, false, false}, {2, 1, 4})}},
          {"scale", plain, {.scale = 1.0}},
          {"grouped", grouped, {.causal = true}},
          {"one of each", {1, 1, 1, 1, 1, 1}, {.causal = true}},
          {"long", {1, 1, 1, 5, 19, 3}, {}},
          {"many queries", {1, 1, 1, 65, 5, 1}, {.causal = true}},
          {"many keys", {1, 2, 1, 5, 66, 1}, {.causal = true}},
          {"wide", {1, 1, 1, 2, 3, 33}, {}},
          {"dropout", grouped, {.causal = true, .dropout = 0.4}},
          {"dropout of everything", {1, 1, 1, 2, 2, 1}, {.dropout = 1}},
          {"alibi", grouped, {.causal = true, .alibi = true}},
          {"alibi, both ways", {.heads = 3, .kv_heads = 3, .queries = 4}, {.alibi = true}},
          {"alibi, hidden", plain, {.hidden = hidden_for(plain), .alibi = true}},
          {"alibi, more queries",
           {.heads = 2, .kv_heads = 1, .queries = 5},
           {.causal = true, .alibi = true}},
          {"alibi, long", {1, 2, 1, 70, 67, 1}, {.dropout = 0.2, .alibi = true}},
          {"no batch", {.batch = 0}, {}},
          {"no queries", {.queries = 0}, {}},
          {"no keys", {.keys = 0}, {}}};
}

Row weights_row() {
  std::vector<Variant> variants;
  for (const Setting& s : settings())
    variants.push_back({s.label,
                        {{.shape = query_shape(s.sizes)}, {.shape = key_shape(s.sizes)}},
                        [o = s.options](const List& x) { return attention_weights(x[0], x[1], o); },
                        [o = s.options](const Arrays& x) { return weights(x[0], x[1], o); }});
  const auto call = [](const Tensor& q, const Tensor& k) { return attention_weights(q, k); };
  return {.declaration = "attention_weights(Tensor, Tensor, AttentionOptions)",
          .name = "attention",
          .saved = 3,
          .variants = std::move(variants),
          .refusals = {refuses_shapes("attention", {2, 2, 3, 4}, {2, 2, 3, 5}, call),
                       refuses_shapes("attention", {2, 3, 3, 4}, {2, 2, 3, 4}, call),
                       refuses_shapes("attention", {2, 3, 4}, {2, 3, 4}, call)}};
}

Row sdpa_row() {
  std::vector<Variant> variants;
  for (const Setting& s : settings())
    variants.push_back({s.label,
                        {{.shape = query_shape(s.sizes)},
                         {.shape = key_shape(s.sizes)},
                         {.shape = key_shape(s.sizes)}},
                        [o = s.options](const List& x) {
                          return in_training(
                              [&] { return scaled_dot_product_attention(x[0], x[1], x[2], o); });
                        },
                        [o = s.options](const Arrays& x) { return attend(x[0], x[1], x[2], o); }});
  const auto with_v = [](const Tensor& k, const Tensor& v) {
    return scaled_dot_product_attention(k, k, v);
  };
  return {
      .declaration = "scaled_dot_product_attention(Tensor, Tensor, Tensor, AttentionOptions)",
      .name = "attention",
      .saved = 4,
      .variants = std::move(variants),
      .refusals = {
          refuses_shapes("attention", {2, 2, 3, 4}, {2, 2, 4, 4}, with_v),
          refuses_shapes("attention", {2, 2, 3, 4}, {1, 2, 3, 4}, with_v),
          refuses<ShapeError>("hidden", {"attention", "(3, 2)", "(1, 1, 2, 2)"}, [] {
            const Tensor x = zeros({1, 1, 2, 1});
            scaled_dot_product_attention(x, x, x, {.hidden = mask(std::vector<bool>(6), {3, 2})});
          })}};
}

/// (B, T, H D) as (B, H, T, D), and back.
Array split(const Array& x, std::int64_t heads) {
  const std::int64_t width = x.shape[2] / heads;
  return reference::build({x.shape[0], heads, x.shape[1], width}, [&](const Index& at) {
    return x({at[0], at[2], at[1] * width + at[3]});
  });
}
Array merge(const Array& x) {
  const std::int64_t width = x.shape[3];
  return reference::build({x.shape[0], x.shape[2], x.shape[1] * width}, [&](const Index& at) {
    return x({at[0], at[2] / width, at[1], at[2] % width});
  });
}

Row multi_head_row() {
  std::vector<Variant> variants;
  for (const Setting& s : settings()) {
    const MultiHeadOptions options = {.heads = s.sizes.heads,
                                      .kv_heads = s.sizes.kv_heads,
                                      .hidden = s.options.hidden,
                                      .causal = s.options.causal,
                                      .scale = s.options.scale,
                                      .dropout = s.options.dropout,
                                      .alibi = s.options.alibi};
    const In q = {.shape = {s.sizes.batch, s.sizes.queries, s.sizes.heads * s.sizes.width}};
    const In k = {.shape = {s.sizes.batch, s.sizes.keys, s.sizes.kv_heads * s.sizes.width}};
    variants.push_back({s.label,
                        {q, k, k},
                        [options](const List& x) {
                          return in_training([&] { return attention(x[0], x[1], x[2], options); });
                        },
                        [o = s.options, s = s.sizes](const Arrays& x) {
                          return merge(attend(split(x[0], s.heads), split(x[1], s.kv_heads),
                                              split(x[2], s.kv_heads), o));
                        }});
  }
  const auto heads = [](std::int64_t n) {
    return [n](const Tensor& q, const Tensor& k) { return attention(q, k, k, {.heads = n}); };
  };
  return {.declaration = "attention(Tensor, Tensor, Tensor, MultiHeadOptions)",
          .name = "attention",
          .saved = 4,
          .variants = std::move(variants),
          .refusals = {refuses_shapes("attention", {2, 3, 4}, {2, 3, 6}, heads(2)),
                       refuses<ShapeError>("heads", {"3", "(2, 3, 4)"},
                                           [heads] {
                                             heads(3)(zeros({2, 3, 4}), zeros({2, 3, 4}));
                                           }),
                       refuses<ShapeError>("no heads", {"0", "(2, 3, 4)"}, [heads] {
                         heads(0)(zeros({2, 3, 4}), zeros({2, 3, 4}));
                       })}};
}

Row alibi_row() {
  std::vector<Variant> variants;
  const std::vector<std::array<std::int64_t, 3>> sizes{{1, 1, 1},  {1, 3, 3}, {2, 2, 5},
                                                       {8, 3, 3},  {3, 3, 2}, {6, 1, 4},
                                                       {12, 2, 2}, {7, 0, 3}, {2, 3, 0}};
  for (const auto& [heads, queries, keys] : sizes)
    variants.push_back(
        {text(heads, " heads, ", queries, " of ", keys),
         {},
         [h = heads, q = queries, k = keys](const List&) { return alibi_bias(h, q, k, f64); },
         [h = heads, q = queries, k = keys](const Arrays&) { return bias(h, q, k); }});
  return {.declaration = "alibi_bias(std::int64_t, std::int64_t, std::int64_t, DType)",
          .name = "alibi_bias",
          .order = 0,
          .variants = std::move(variants),
          .refusals = {refuses<ValueError>("no heads", {"heads = 0"}, [] { alibi_bias(0, 1, 1); }),
                       refuses<ShapeError>("negative", {"-1"}, [] { alibi_bias(1, -1, 1); })}};
}

/// x (..., T, D), turned in loops.
Array turned(const Array& x, const std::vector<std::int64_t>& positions, double base) {
  const std::int64_t half = x.shape.back() / 2;
  return reference::build(x.shape, [&](const Index& index) {
    const bool second = index.back() >= half;
    const std::int64_t pair = index.back() % half;
    const double angle =
        static_cast<double>(positions[static_cast<std::size_t>(index[index.size() - 2])]) *
        std::pow(base, -2. * static_cast<double>(pair) / static_cast<double>(2 * half));
    Index first = index, other = index;
    first.back() = pair;
    other.back() = pair + half;
    const double a = x(first), b = x(other);
    return second ? a * std::sin(angle) + b * std::cos(angle)
                  : a * std::cos(angle) - b * std::sin(angle);
  });
}

Row rope_row() {
  const auto variant = [](Shape shape, std::vector<std::int64_t> positions,
                          double base) -> Variant {
    const Tokens at = tokens(positions, {static_cast<std::int64_t>(positions.size())});
    return {text(shape, " base ", base),
            {{.shape = shape}},
            [=](const List& x) { return rope(x[0], at, base); },
            [=](const Arrays& x) { return turned(x[0], positions, base); }};
  };
  return {.declaration = "rope(Tensor, Tokens, double)",
          .name = "rope",
          .variants = {variant({3, 4}, {0, 1, 2}, 10000), variant({2, 2, 3, 6}, {5, 0, 7}, 100),
                       variant({1, 2}, {3}, 10000), variant({0, 2}, {}, 10000),
                       variant({2, 0, 4}, {}, 10000)},
          .refusals = {refuses<ShapeError>("odd", {"rope", "(2, 3)"},
                                           [] {
                                             rope(zeros({2, 3}), tokens({0, 1}, {2}));
                                           }),
                       refuses<ShapeError>("positions", {"rope", "(2, 4)", "(3)"}, [] {
                         rope(zeros({2, 4}), tokens({0, 1, 2}, {3}));
                       })}};
}

Row rope_of_heads_row() {
  const auto variant = [](Shape shape, std::int64_t start, std::int64_t heads) -> Variant {
    return {text(shape, " from ", start, ", ", heads, " heads"),
            {{.shape = shape}},
            [=](const List& x) { return rope(x[0], start, heads); },
            [=](const Arrays& x) {
              std::vector<std::int64_t> positions;
              for (std::int64_t t = 0; t < shape[1]; ++t) positions.push_back(start + t);
              return merge(turned(split(x[0], heads), positions, 10000));
            }};
  };
  return {
      .declaration = "rope(Tensor, std::int64_t, std::int64_t, double)",
      .name = "rope",
      .variants = {variant({2, 3, 8}, 0, 2), variant({1, 3, 12}, 5, 3), variant({2, 2, 4}, -1, 1),
                   variant({1, 1, 2}, 3, 1), variant({0, 2, 4}, 0, 2), variant({2, 0, 4}, 0, 2)},
      .refusals = {refuses<ShapeError>("odd", {"rope", "(1, 2, 6)", "2"},
                                       [] {
                                         rope(zeros({1, 2, 6}), 0, 2);
                                       }),
                   refuses<ShapeError>("no heads", {"rope", "(1, 2, 6)", "0"},
                                       [] {
                                         rope(zeros({1, 2, 6}), 0, 0);
                                       }),
                   refuses<ValueError>("a negative base", {"rope", "base = -1"}, [] {
                     rope(zeros({1, 2, 6}), 0, 1, -1);
                   })}};
}

}  // namespace

std::vector<Row> attention_rows() {
  return {weights_row(), sdpa_row(), multi_head_row(),
          alibi_row(),   rope_row(), rope_of_heads_row()};
}

}  // namespace heed::op_table
