// Cases of attention and dropout, as ops.
#include "values.h"

namespace heed::cases {
namespace {

Tensor heads(std::vector<double> values, DType dtype = f64) {
  const auto n = static_cast<std::int64_t>(values.size());
  return leaf(std::move(values), {1, 1, n, 1}, dtype);
}

/// All scores 0, so that a query averages what it sees of v.
Tensor average(std::int64_t queries, std::vector<double> v, const AttentionOptions& options) {
  const auto keys = static_cast<std::int64_t>(v.size());
  return scaled_dot_product_attention(zeros({1, 1, queries, 1}, f64), zeros({1, 1, keys, 1}, f64),
                                      heads(std::move(v)), options);
}

TEST(Cases, L02_OpAlignsTheCausalMaskAtTheLastQuery) {
  expect_values(average(2, {0, 1, 2, 3, 4}, {.causal = true}), {1.5, 2.0});
  expect_values(average(1, {0, 1, 2, 3, 4}, {.causal = true}), {2.0});
}

TEST(Cases, L03_OpIsNotOffByOne) {
  expect_values(average(4, {0, 1, 2, 3}, {.causal = true}), {0, .5, 1, 1.5});
}

TEST(Cases, L03_OutputsBeforeAChangedKeyKeepTheirBits) {
  Rng rng(1);
  for (const DType dtype : {f32, f64}) {
    const Shape shape = {2, 2, 6, 4};
    const Tensor q = normal(shape, rng, 0, 1, dtype), k = normal(shape, rng, 0, 1, dtype);
    const Tensor v = normal(shape, rng, 0, 1, dtype);
    const auto attend = [&](const Tensor& keys, const Tensor& values) {
      return scaled_dot_product_attention(q, keys, values, {.causal = true});
    };
    const Tensor before = attend(k, v);
    for (std::int64_t j = 0; j < 6; ++j) {
      const auto changed = [&](const Tensor& x) {
        return concat({slice(x, 2, 0, j), slice(x, 2, j, j + 1) + 5, slice(x, 2, j + 1, 6)}, 2);
      };
      const Tensor after = attend(changed(k), changed(v));
      EXPECT_EQ(slice(after, 2, 0, j).to_vector(), slice(before, 2, 0, j).to_vector());
      EXPECT_NE(slice(after, 2, j, 6).to_vector(), slice(before, 2, j, 6).to_vector());
    }
  }
}

TEST(Cases, L06_OpHidesKeysAndNotQueries) {
  const Mask third = mask({false, false, true}, {3});
  expect_values(average(2, {0, 1, 2}, {.hidden = third}), {.5, .5});
  expect_values(average(2, {0, 1, 2}, {.hidden = third.reshape({1, 1, 1, 3})}), {.5, .5});
}

TEST(Cases, N02_QueryThatSeesNothingPoisonsNoGradient) {
  const Tensor q = heads({1, 2, 3}), k = heads({.5, -1, 2}), v = heads({1, 10, 100});
  const Mask hidden = mask({false, false, true, true, true, true, false, true, false}, {3, 3});
  const Tensor y = scaled_dot_product_attention(q, k, v, {.hidden = hidden});
  EXPECT_EQ(y.to_vector()[1], 0);
  const auto grads = gradients(y, {q, k, v}, {1, 1, 1});
  for (const Tensor& g : grads)
    for (const double value : g.to_vector()) EXPECT_TRUE(std::isfinite(value));
  EXPECT_EQ(grads[0].to_vector()[1], 0);
  // The same as without that query.
  const auto others = [](const Tensor& x) {
    return concat({slice(x, 2, 0, 1), slice(x, 2, 2, 3)}, 2);
  };
  const Mask rest = mask({false, false, true, false, true, false}, {2, 3});
  const Tensor without = scaled_dot_product_attention(others(q), k, v, {.hidden = rest});
  const auto expected = gradients(without, {k, v}, {1, 1});
  expect_values(grads[1], expected[0].to_vector());
  expect_values(grads[2], expected[1].to_vector());
}

TEST(Cases, L10_DropoutOfEverything) {
  Rng rng(1);
  const Training scope(rng);
  const Tensor x = leaf({1, -2, 3});
  const Tensor y = dropout(x, 1);
  expect_values(y, {0, 0, 0});
  expect_values(gradient(y, x, {1, 1, 1}), {0, 0, 0});
  const Tensor q = heads({1, 2}), k = heads({1, 2}), v = heads({1, 2});
  const Tensor a = scaled_dot_product_attention(q, k, v, {.dropout = 1});
  expect_values(a, {0, 0});
  for (const Tensor& g : gradients(a, {q, k, v}, {1, 1})) expect_values(g, {0, 0});
}

TEST(Cases, L10_DropoutGoesOnAndOffWithItsScope) {
  Rng rng(1);
  const Tensor x = ones({1000}, f64);
  const auto dropped = [&] { return static_cast<double>((dropout(x, .5) == 0).count()); };
  EXPECT_EQ(dropped(), 0);
  {
    const Training scope(rng);
    EXPECT_NEAR(dropped(), 500, 80);
    EXPECT_NE(dropout(x, .5).to_vector(), dropout(x, .5).to_vector());
  }
  EXPECT_EQ(dropout(x, .5).to_vector(), x.to_vector());
  const Training scope(rng);
  EXPECT_NEAR(dropped(), 500, 80);
}

TEST(Cases, L10_DropoutInsideAttention) {
  const Tensor v = heads(std::vector<double>(400, 1.));
  const Tensor k = zeros({1, 1, 400, 1}, f64), q = zeros({1, 1, 3, 1}, f64);
  const auto attend = [&] { return scaled_dot_product_attention(q, k, v, {.dropout = .5}); };
  expect_values(attend(), {1, 1, 1});
  Rng rng(1);
  const Training scope(rng);
  const std::vector<double> y = attend().to_vector();
  for (const double value : y) {
    EXPECT_NE(value, 1);
    EXPECT_NEAR(value, 1, .25);  // each weight 0 or doubled
  }
  EXPECT_NE(y, attend().to_vector());
}

}  // namespace
}  // namespace heed::cases
