#include "support.h"

namespace heed::layer_tests {
namespace {

using Hides = std::function<bool(std::int64_t b, std::int64_t i, std::int64_t j)>;

/// Attention written out in loops over b, h, i, j, d, in doubles.
std::vector<double> by_loops(const MultiHeadAttention& m, const Tensor& x, const Tensor& memory,
                             const Hides& hidden, double scale) {
  const std::int64_t B = x.dim(0), Tq = x.dim(1), Tk = memory.dim(1), C = x.dim(2);
  const std::int64_t H = m.heads, D = C / H, shared = m.config.kv_heads ? m.config.kv_heads : H;
  const auto project = [C](const std::vector<double>& rows, const Linear& map) {
    const std::vector<double> w = map.weight.to_vector();
    const std::size_t in = static_cast<std::size_t>(C), out = w.size() / in;
    std::vector<double> y(rows.size() / in * out);
    for (std::size_t n = 0; n < y.size(); ++n) {
      const std::size_t row = n / out * in, c = n % out;
      y[n] = map.bias.defined() ? map.bias.to_vector()[c] : 0;
      for (std::size_t k = 0; k < in; ++k) y[n] += rows[row + k] * w[k * out + c];
    }
    return y;
  };
  std::vector<double> q = project(x.to_vector(), m.w_q), k = project(memory.to_vector(), m.w_k);
  const std::vector<double> v = project(memory.to_vector(), m.w_v);
  const auto at = [D](std::int64_t T, std::int64_t heads, std::int64_t b, std::int64_t t,
                      std::int64_t h, std::int64_t d) {
    return static_cast<std::size_t>(((b * T + t) * heads + h) * D + d);
  };
  const auto turn = [&](std::vector<double>& rows, std::int64_t T, std::int64_t heads,
                        std::int64_t first) {
    for (std::int64_t b = 0; b < B; ++b)
      for (std::int64_t t = 0; t < T; ++t)
        for (std::int64_t h = 0; h < heads; ++h)
          for (std::int64_t d = 0; d < D / 2; ++d) {
            double &one = rows[at(T, heads, b, t, h, d)],
                   &other = rows[at(T, heads, b, t, h, d + D / 2)];
            const double angle = static_cast<double>(first + t) *
                                 std::pow(10000, -2.0 * static_cast<double>(d) / double(D));
            const double turned = one * std::cos(angle) - other * std::sin(angle);
            other = one * std::sin(angle) + other * std::cos(angle);
            one = turned;
          }
  };
  if (m.config.positions == Positions::rotary) {
    turn(q, Tq, H, Tk - Tq);
    turn(k, Tk, shared, 0);
  }
  std::vector<double> mixed(q.size());
  for (std::int64_t b = 0; b < B; ++b)
    for (std::int64_t h = 0; h < H; ++h)
      for (std::int64_t i = 0; i < Tq; ++i) {
        const std::int64_t kv = h / (H / shared);
        std::vector<double> weight(static_cast<std::size_t>(Tk), 0.0);
        double total = 0;
        for (std::int64_t j = 0; j < Tk; ++j) {
          if (hidden(b, i, j)) continue;
          double score = 0;
          for (std::int64_t d = 0; d < D; ++d)
            score += q[at(Tq, H, b, i, h, d)] * k[at(Tk, shared, b, j, kv, d)];
          score *= scale;
          if (m.config.positions == Positions::alibi)  // of 2 heads: 2^-4 and 2^-8
            score -= std::pow(2, -4.0 * static_cast<double>(h + 1)) *
                     std::abs(static_cast<double>(i + Tk - Tq - j));
          total += weight[static_cast<std::size_t>(j)] = std::exp(score);
        }
        for (std::int64_t j = 0; j < Tk; ++j)
          for (std::int64_t d = 0; d < D; ++d)
            if (total > 0)
              mixed[at(Tq, H, b, i, h, d)] +=
                  weight[static_cast<std::size_t>(j)] / total * v[at(Tk, shared, b, j, kv, d)];
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

/// Every kind of heads and positions, for x (2, 4, 8) and memory (2, 5, 8).
std::vector<AttentionConfig> kinds() {
  std::vector<AttentionConfig> all;
  for (const bool causal : {false, true})
    for (const std::int64_t kv_heads : {0, 1})
      for (const Positions positions : {Positions::none, Positions::rotary, Positions::alibi})
        all.push_back({.causal = causal, .kv_heads = kv_heads, .positions = positions});
  return all;
}

TEST(MultiHeadAttention, OfEveryKindIsWhatLoopsSay) {
  Rng rng(12);
  const Tensor x = normal({2, 4, 8}, rng, 0, 1, f64), memory = normal({2, 5, 8}, rng, 0, 1, f64);
  for (const AttentionConfig& config : kinds()) {
    MultiHeadAttention m(8, 2, rng, config);
    to(m, f64);
    stir(m, rng);
    Recorder recorder(m);
    const auto check = [&] {
      const Hides late = [&](std::int64_t, std::int64_t i, std::int64_t j) {
        return config.causal && j > i;
      };
      const Hides late_of_memory = [&](std::int64_t, std::int64_t i, std::int64_t j) {
        return config.causal && j > i + 1;
      };
      expect_near(m(x), by_loops(m, x, x, late, 0.5), 1e-12);
      expect_near(m(x, memory), by_loops(m, x, memory, late_of_memory, 0.5), 1e-12);
      expect_near(m.across(x, m.keys_values(memory)), m(x, memory).to_vector(), 1e-12);
    };
    check();
    const Tensor seen = recorder.at("weights");
    recorder.replace("weights", [](const Tensor& w) { return w; });
    check();
    expect_near(recorder.at("weights"), seen.to_vector(), 1e-12);
  }
}

/// What stands before, and is hidden, only moves the others on.
TEST(MultiHeadAttention, RotaryAndAlibiKnowDistancesOnly) {
  Rng rng(13);
  const Tensor x = normal({1, 6, 8}, rng, 0, 1, f64), late = slice(x, 1, 2, 6);
  const Mask first = mask({true, true, false, false, false, false}, {6});
  for (const Positions positions : {Positions::rotary, Positions::alibi}) {
    MultiHeadAttention m(8, 2, rng, {.positions = positions});
    to(m, f64);
    stir(m, rng);
    expect_near(slice(m(x, first), 1, 2, 6), m(late).to_vector(), 1e-12);
    MultiHeadAttention without = m;
    without.config.positions = Positions::none;
    EXPECT_NE(bytes(m(late)), bytes(without(late)));
  }
}

TEST(MultiHeadAttention, WhoReplacesWeightsChangesTheOutputOfEveryKind) {
  Rng rng(14);
  const Tensor x = normal({1, 3, 8}, rng, 0, 1, f64);
  for (const AttentionConfig& config : kinds()) {
    MultiHeadAttention m(8, 2, rng, config);
    to(m, f64);
    stir(m, rng);
    Recorder recorder(m);
    recorder.replace("weights", [](const Tensor& w) {  // the first position alone
      return concat({ones({1, 2, 3, 1}, f64), zeros({1, 2, 3, 2}, f64)}, 3) + w * 0.0;
    });
    const Tensor v = split_heads(m.w_v(slice(x, 1, 0, 1)), config.kv_heads ? 1 : 2);
    const Tensor all = broadcast_to(v, {1, 2, 3, 4});  // each head sees the same
    expect_near(m(x), m.w_o(merge_heads(all)).to_vector(), 1e-12);
  }
}

TEST(MultiHeadAttention, GroupedHeadsShareKeysAndValues) {
  Rng rng(1);
  const MultiHeadAttention m(8, 4, rng, {.kv_heads = 2});
  EXPECT_EQ(m.w_q.weight.shape(), (Shape{8, 8}));
  EXPECT_EQ(m.w_k.weight.shape(), (Shape{8, 4}));
  EXPECT_EQ(m.w_v.weight.shape(), (Shape{8, 4}));
  EXPECT_EQ(m.w_o.weight.shape(), (Shape{8, 8}));
}

TEST(MultiHeadAttention, RefusesBadSettingsByName) {
  const auto refusal = [](AttentionConfig config) {
    Rng rng(1);
    return message<ValueError>([&] { MultiHeadAttention(6, 2, rng, config); });
  };
  using testing::StartsWith;
  EXPECT_THAT(refusal({.scale = 0.0}), StartsWith("scale = 0 must be a positive number"));
  EXPECT_THAT(refusal({.dropout = 2}), StartsWith("dropout = 2 must be a probability"));
  EXPECT_THAT(refusal({.kv_heads = 3}), StartsWith("kv_heads = 3 must divide heads = 2"));
  EXPECT_THAT(refusal({.positions = Positions::rotary}), StartsWith("positions = rotary"));
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
