// Attention's kernels against the formula in plain ops, at the sizes where tiles, vectors and
// groups of heads begin and end; what they drop, and how much memory they take.
#include <gtest/gtest.h>
#include <heed/autograd/autograd.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "support.h"

namespace heed {
namespace {

struct Sizes {
  std::int64_t queries, keys, width, value_width, heads = 1, kv_heads = 1, batch = 1;
};

using List = std::vector<Tensor>;

/// softmax(q kᵀ · scale) v of heads that lie apart, where each weight may be dropped.
Tensor formula(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options) {
  const std::int64_t group = q.dim(1) / k.dim(1);
  List heads;
  const Tensor weights = dropout(attention_weights(q, k, options), options.dropout);
  for (std::int64_t h = 0; h < q.dim(1); ++h)
    heads.push_back(matmul(slice(weights, 1, h, h + 1), slice(v, 1, h / group, h / group + 1)));
  return concat(heads, 1);
}

class AttentionKernel : public testing::TestWithParam<DType> {
 protected:
  Rng rng_{5};

  Tensor draw(const Shape& shape) { return normal(shape, rng_, 0, 1, GetParam()); }
  Mask hide(const Shape& shape) {
    std::vector<bool> hidden;
    for (std::int64_t i = 0; i < shape.numel(); ++i) hidden.push_back(rng_.uniform() < 0.3);
    return mask(hidden, shape);
  }

  /// Value and gradients of the kernels are those of the formula.
  void expect_formula(const Sizes& s, AttentionOptions options, bool side_by_side) {
    SCOPED_TRACE(text("queries ", s.queries, ", keys ", s.keys, ", width ", s.width, " and ",
                      s.value_width, ", heads ", s.heads, " and ", s.kv_heads,
                      options.causal ? ", causal" : "", options.hidden.defined() ? ", hidden" : "",
                      ", dropout ", options.dropout, side_by_side ? ", side by side" : ""));
    const List x{draw({s.batch, s.heads, s.queries, s.width}).requires_grad_(),
                 draw({s.batch, s.kv_heads, s.keys, s.width}).requires_grad_(),
                 draw({s.batch, s.kv_heads, s.keys, s.value_width}).requires_grad_()};
    const auto in_training = [&](auto call) {
      Rng drops(17);
      const Training scope(drops);
      return std::pair(call(), drops.state());
    };
    const auto [y, state] = in_training([&] {
      if (!side_by_side) return scaled_dot_product_attention(x[0], x[1], x[2], options);
      return split_heads(attention(merge_heads(x[0]), merge_heads(x[1]), merge_heads(x[2]),
                                   {.heads = s.heads,
                                    .kv_heads = s.kv_heads,
                                    .hidden = options.hidden,
                                    .causal = options.causal,
                                    .scale = options.scale,
                                    .dropout = options.dropout}),
                         s.heads);
    });
    const auto [expected, expected_state] =
        in_training([&] { return formula(x[0], x[1], x[2], options); });
    EXPECT_EQ(state, expected_state);
    const Tensor g = draw(y.shape());
    expect_near(y, expected, "value");
    const List found = grad(y, x, {.retain_graph = true, .seed = g});
    const List recorded = grad(y, x, {.create_graph = true, .seed = g});
    const List wanted = grad(expected, x, {.seed = g});
    for (std::size_t i = 0; i < x.size(); ++i) {
      expect_near(found[i], wanted[i], text("gradient ", i));
      expect_near(recorded[i], wanted[i], text("gradient ", i, " with a graph"));
    }
  }

 private:
  void expect_near(const Tensor& found, const Tensor& expected, const std::string& what) {
    ASSERT_EQ(found.shape(), expected.shape());
    const double tolerance = GetParam() == f64 ? 1e-12 : 1e-5;
    const std::vector<double> a = found.to_vector(), b = expected.to_vector();
    double size = 1;
    for (const double value : b) size = std::max(size, std::abs(value));
    std::size_t worst = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
      if (!(std::abs(a[i] - b[i]) <= std::abs(a[worst] - b[worst]))) worst = i;
    if (a.empty()) return;
    EXPECT_LE(std::abs(a[worst] - b[worst]), tolerance * size)
        << what << ": element " << worst << " is " << a[worst] << ", expected " << b[worst];
  }
};

const std::vector<std::int64_t> kTimes{1, 5, 63, 64, 65, 130};

TEST_P(AttentionKernel, IsTheFormulaAtEveryLength) {
  for (const std::int64_t queries : kTimes)
    for (const std::int64_t keys : kTimes)
      for (const bool causal : {false, true})
        expect_formula({queries, keys, 3, 2}, {.causal = causal}, false);
}

TEST_P(AttentionKernel, IsTheFormulaAtEveryWidth) {
  for (const std::int64_t width : {1, 3, 16, 33, 64, 128, 150})
    for (const bool side_by_side : {false, true}) {
      expect_formula({70, 67, width, width, 2, 2, 2}, {.causal = true}, side_by_side);
      expect_formula({6, 9, width, 5, 2, 1, 2}, {}, side_by_side);
    }
}

TEST_P(AttentionKernel, IsTheFormulaUnderEveryMask) {
  for (const Shape& shape : {Shape{2, 4, 70, 66}, Shape{2, 1, 1, 66}, Shape{4, 1, 66}, Shape{70, 1},
                             Shape{66}, Shape{2, 1, 70, 1}, Shape{}})
    for (const bool causal : {false, true})
      expect_formula({70, 66, 8, 8, 4, 2, 2}, {.hidden = hide(shape), .causal = causal}, causal);
}

TEST_P(AttentionKernel, DropsTheCellsThatDropoutWouldDrop) {
  for (const double p : {0.1, 0.5, 1.})
    for (const bool side_by_side : {false, true}) {
      expect_formula({70, 67, 8, 8, 4, 2, 2}, {.hidden = hide({67}), .causal = true, .dropout = p},
                     side_by_side);
      expect_formula({5, 130, 3, 4, 2, 2, 1}, {.scale = 0.3, .dropout = p}, side_by_side);
    }
}

TEST_P(AttentionKernel, LargeScoresNeitherOverflowNorVanish) {
  const Tensor q = (30 * draw({1, 1, 70, 8})).detach(), k = (30 * draw({1, 1, 130, 8})).detach();
  const Tensor v = draw({1, 1, 130, 4});
  const Tensor y = scaled_dot_product_attention(q, k, v);
  const Tensor expected = formula(q.to(f64), k.to(f64), v.to(f64), {});
  const std::vector<double> a = y.to_vector(), b = expected.to_vector();
  for (std::size_t i = 0; i < a.size(); ++i)
    EXPECT_NEAR(a[i], b[i], GetParam() == f64 ? 1e-11 : 5e-3);
}

INSTANTIATE_TEST_SUITE_P(Types, AttentionKernel, testing::Values(f32, f64),
                         [](const auto& test) { return test.param == f32 ? "f32" : "f64"; });

}  // namespace
}  // namespace heed
