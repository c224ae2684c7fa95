#include "support.h"

namespace heed::layer_tests {
namespace {

/// Attention written out in loops over b, h, i, j, d, in doubles.
std::vector<double> by_loops(
    const MultiHeadAttention& m, const Tensor& x, const Tensor& memory,
    const std::function<bool(std::int64_t b, std::int64_t i, std::int64_t j)>& hidden,
    double scale) {
  const std::int64_t B = x.dim(0), Tq = x.dim(1), Tk = memory.dim(1), C = x.dim(2), D = C / m.heads;
  const auto project = [C](const std::vector<double>& rows, const Linear& map) {
    const std::vector<double> w = map.weight.to_vector();
    std::vector<double> y(rows.size());
    for (std::size_t n = 0; n < rows.size(); ++n) {
      const std::size_t row = n / C * C, c = n % C;
      y[n] = map.bias.defined() ? map.bias.to_vector()[c] : 0;
      for (std::size_t k = 0; k < static_cast<std::size_t>(C); ++k)
        y[n] += rows[row + k] * w[k * C + c];
    }
    return y;
  };
  const std::vector<double> q = project(x.to_vector(), m.w_q),
                            k = project(memory.to_vector(), m.w_k),
                            v = project(memory.to_vector(), m.w_v);
  std::vector<double> mixed(q.size());
  for (std::int64_t b = 0; b < B; ++b)
    for (std::int64_t h = 0; h < m.heads; ++h)
      for (std::int64_t i = 0; i < Tq; ++i) {
        const auto at = [&](std::int64_t T, std::int64_t t, std::int64_t d) {
          return static_cast<std::size_t>((b * T + t) * C + h * D + d);
        };
        std::vector<double> weight(static_cast<std::size_t>(Tk), 0.0);
        double total = 0;
        for (std::int64_t j = 0; j < Tk; ++j) {
          if (hidden(b, i, j)) continue;
          double score = 0;
          for (std::int64_t d = 0; d < D; ++d) score += q[at(Tq, i, d)] * k[at(Tk, j, d)];
          total += weight[static_cast<std::size_t>(j)] = std::exp(score * scale);
        }
        for (std::int64_t j = 0; j < Tk; ++j)
          for (std::int64_t d = 0; d < D; ++d)
            if (total > 0)
              mixed[at(Tq, i, d)] += weight[static_cast<std::size_t>(j)] / total * v[at(Tk, j, d)];
      }
  return project(mixed, m.w_o);
}

struct Fixture {
  Rng rng{11};
  Tensor x = normal({2, 4, 6}, rng, 0, 1, f64);
  Tensor memory = normal({2, 5, 6}, rng, 0, 1, f64);

  MultiHeadAttention layer(std::int64_t heads, AttentionConfig config = {}) {
    MultiHeadAttention m(6, heads, rng, config);
    to(m, f64);
    stir(m, rng);
    return m;
  }
};

const auto nothing = [](std::int64_t, std::int64_t, std::int64_t) { return false; };
const auto later = [](std::int64_t, std::int64_t i, std::int64_t j) { return j > i; };

TEST(MultiHeadAttention, IsWhatLoopsSay) {
  Fixture f;
  for (const std::int64_t heads : {1, 2, 3, 6}) {
    const MultiHeadAttention m = f.layer(heads);
    const double scale = 1 / std::sqrt(6.0 / static_cast<double>(heads));
    expect_near(m(f.x), by_loops(m, f.x, f.x, nothing, scale), 1e-12);
    expect_near(m(f.x, f.memory), by_loops(m, f.x, f.memory, nothing, scale), 1e-12);
  }
}

TEST(MultiHeadAttention, SeesNothingLaterIfCausal) {
  Fixture f;
  const MultiHeadAttention m = f.layer(2, {.causal = true});
  expect_near(m(f.x), by_loops(m, f.x, f.x, later, 1 / std::sqrt(3.0)), 1e-12);
}

TEST(MultiHeadAttention, CausalCrossAttentionIsAlignedAtTheEnd) {
  Fixture f;
  const MultiHeadAttention m = f.layer(2, {.causal = true});
  const auto hidden = [](std::int64_t, std::int64_t i, std::int64_t j) { return j > i + 1; };
  expect_near(m(f.x, f.memory), by_loops(m, f.x, f.memory, hidden, 1 / std::sqrt(3.0)), 1e-12);
}

TEST(MultiHeadAttention, ScaleIsSettable) {
  Fixture f;
  const MultiHeadAttention m = f.layer(2, {.scale = 1.0});
  expect_near(m(f.x), by_loops(m, f.x, f.x, nothing, 1), 1e-12);
}

TEST(MultiHeadAttention, PaddingIsOfKeysAndOfItsOwnRow) {
  Fixture f;
  const MultiHeadAttention m = f.layer(3, {.causal = true});
  const Mask padding = mask({false, false, true, true, false, false, false, true}, {2, 4});
  const auto hidden = [&](std::int64_t b, std::int64_t i, std::int64_t j) {
    return j > i || padding.to_vector()[static_cast<std::size_t>(b * 4 + j)];
  };
  expect_near(m(f.x, padding_mask(padding)), by_loops(m, f.x, f.x, hidden, 1 / std::sqrt(2.0)),
              1e-12);
}

TEST(MultiHeadAttention, PaddingMaskSaysWhatItTakes) {
  EXPECT_FALSE(padding_mask({}).defined());
  EXPECT_EQ(padding_mask(mask({true, false, true, true, false, true}, {2, 3})).shape(),
            (Shape{2, 1, 1, 3}));
  EXPECT_THROW(padding_mask(mask({true}, {1, 1, 1})), ShapeError);
}

TEST(MultiHeadAttention, KeysHaveNoBiasAndTheRestHas) {
  Rng rng(1);
  const MultiHeadAttention m(4, 2, rng);
  std::vector<std::string> names;
  for (const NamedTensor& parameter : parameters(m)) names.push_back(parameter.name);
  EXPECT_EQ(names, (std::vector<std::string>{"w_q.weight", "w_q.bias", "w_k.weight", "w_v.weight",
                                             "w_v.bias", "w_o.weight", "w_o.bias"}));
}

TEST(MultiHeadAttention, NamesBothFieldsIfHeadsDoNotDivide) {
  Rng rng(1);
  EXPECT_THAT(message<ValueError>([&] { MultiHeadAttention(32, 3, rng); }),
              testing::StartsWith("heads = 3 does not divide d_model = 32"));
  EXPECT_THROW(MultiHeadAttention(32, 0, rng), ValueError);
  EXPECT_THROW(MultiHeadAttention(0, 1, rng), ValueError);
}

TEST(MultiHeadAttention, DropoutFallsOnWeightsInTrainingOnly) {
  Fixture f;
  MultiHeadAttention m = f.layer(2), with = m;
  with.config.dropout = 1;
  expect_near(with(f.x), m(f.x).to_vector(), 0);
  Rng rng(1);
  Training scope(rng);
  std::vector<double> bias_only;
  for (int row = 0; row < 8; ++row)
    for (const double value : m.w_o.bias.to_vector()) bias_only.push_back(value);
  expect_near(with(f.x), bias_only, 0);
}

/// Fused and composed attention must drop the same cells: an identity intervention changes nothing.
TEST(MultiHeadAttention, ThePathThatIsIntervenedOnIsTheSameFunction) {
  Fixture f;
  const MultiHeadAttention m = f.layer(2, {.causal = true, .scale = 0.9, .dropout = 0.4});
  const Mask hidden =
      padding_mask(mask({false, true, false, false, false, false, true, true}, {2, 4}));
  const auto run = [&](bool composed) {
    Rng rng(5);
    Training scope(rng);
    Recorder recorder(m);
    if (composed) recorder.replace("weights", [](const Tensor& w) { return w; });
    const Tensor y = m(f.x, hidden);
    std::vector<Tensor> result{y};
    for (const Tensor& g : grad(probe(y), tensors(m))) result.push_back(g);
    return result;
  };
  const std::vector<Tensor> fused = run(false), composed = run(true);
  for (std::size_t i = 0; i < fused.size(); ++i)
    expect_near(fused[i], composed[i].to_vector(), 1e-12);
}

}  // namespace
}  // namespace heed::layer_tests
