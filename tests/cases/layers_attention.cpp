// Cases of attention, through the layer.

#include "../layers/support.h"

namespace heed::layer_tests {
namespace {

std::vector<double> identity(std::int64_t n) { return eye(n, f64).to_vector(); }

/// Attention in f64 whose four maps are the identity.
MultiHeadAttention plain(std::int64_t d_model, std::int64_t heads, AttentionConfig config = {}) {
  Rng rng(1);
  MultiHeadAttention m(d_model, heads, rng, config);
  to(m, f64);
  for (const Linear* map : {&m.w_q, &m.w_k, &m.w_v, &m.w_o}) set(map->weight, identity(d_model));
  return m;
}

/// The same on one channel, with all scores 0.
MultiHeadAttention indifferent(AttentionConfig config = {}) {
  MultiHeadAttention m = plain(1, 1, config);
  set(m.w_q.weight, {0});
  return m;
}

Tensor column(std::vector<double> values) {
  const std::int64_t n = static_cast<std::int64_t>(values.size());
  return tensor(std::move(values), {1, n, 1}, f64);
}

TEST(Cases, L01_ScaleIsThatOfTheHead) {
  const MultiHeadAttention m = plain(8, 2);
  const Tensor x = tensor({2, 0, 0, 0, 0, 0, 0, 0}, {1, 1, 8}, f64);
  const Tensor memory = concat({x, zeros({1, 1, 8}, f64)}, 1);
  Recorder recorder(m);
  const Tensor y = m(x, memory);
  expect_near(recorder.at("weights"), {.88079708, .11920292, .5, .5}, 1e-8);
  expect_near(y, {2 * .88079708, 0, 0, 0, 0, 0, 0, 0}, 1e-8);
}

TEST(Cases, L02_CausalIsAlignedAtTheLastQuery) {
  const MultiHeadAttention m = indifferent({.causal = true});
  const Tensor memory = column({0, 1, 2, 3, 4});
  expect_near(m(column({1, 1}), memory), {1.5, 2.0}, 1e-9);
  expect_near(m(column({1}), memory), {2.0}, 1e-9);
}

TEST(Cases, L03_CausalIsNotOffByOne) {
  const MultiHeadAttention m = indifferent({.causal = true});
  expect_near(m(column({0, 1, 2, 3})), {0, .5, 1, 1.5}, 1e-9);
}

TEST(Cases, L06_HiddenKeysOfCrossAttention) {
  const MultiHeadAttention m = indifferent();
  const Tensor x = column({1, 1}), memory = column({0, 1, 2});
  const Mask hidden = mask({false, false, true}, {1, 3});
  expect_near(m(x, memory, hidden), {.5, .5}, 1e-9);
  expect_near(m(x, memory, padding_mask(hidden)), {.5, .5}, 1e-9);
}

/// Gradients of all weights for a loss over batch row 0 only.
std::vector<Tensor> gradients_of_row_0(const MultiHeadAttention& m, const Tensor& x,
                                       const Mask& hidden) {
  const Tensor y = m(x, hidden);
  Rng rng(3);
  const Tensor row = slice(y, 0, 0, 1);
  return grad(sum(row * normal(row.shape(), rng, 0, 1, f64)), tensors(m));
}

void expect_row_1_harmless(const MultiHeadAttention& m, const Tensor& x, const Mask& hidden,
                           const Mask& hidden_of_row_0) {
  const std::vector<Tensor> both = gradients_of_row_0(m, x, hidden);
  const std::vector<Tensor> alone = gradients_of_row_0(m, slice(x, 0, 0, 1), hidden_of_row_0);
  double size = 0;
  for (std::size_t i = 0; i < both.size(); ++i) {
    expect_near(both[i], alone[i].to_vector(), 1e-9);
    size += norm(alone[i]).item();
  }
  EXPECT_GT(size, 0.01);
  EXPECT_TRUE(std::isfinite(size));
}

TEST(Cases, N02_OneEmptyRowPoisonsNothing) {
  Rng rng(2);
  for (const bool composed : {false, true})
    for (const std::int64_t channels : {1, 4}) {
      MultiHeadAttention m(channels, 1, rng);
      to(m, f64);
      stir(m, rng);
      const Tensor x = normal({2, 3, channels}, rng, 0, 1, f64);
      std::optional<Recorder> recorder(std::in_place, m);
      if (composed) recorder->replace("weights", [](const Tensor& w) { return w; });

      std::vector<bool> query(18, false);  // (B, H, Tq, Tk): the second query of row 1 sees nothing
      for (const std::size_t j : {12u, 13u, 14u}) query[j] = true;
      const Mask one_query = mask(query, {2, 1, 3, 3});
      expect_row_1_harmless(m, x, one_query, {});

      const Mask padding = mask({false, false, true, true, true, true}, {2, 3});
      expect_row_1_harmless(m, x, padding_mask(padding),
                            padding_mask(mask({false, false, true}, {1, 3})));

      // What sees nothing gives the bias of the last map.
      recorder.reset();
      const Tensor blind = slice(m(x, padding_mask(padding)), 0, 1, 2);
      expect_near(blind,
                  broadcast_to(linear(zeros({1, channels}, f64), m.w_o.weight, m.w_o.bias),
                               {1, 3, channels})
                      .to_vector(),
                  1e-12);
    }
}

}  // namespace
}  // namespace heed::layer_tests
