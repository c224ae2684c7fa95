#include <gmock/gmock.h>
#include <heed/autograd/autograd.h>
#include <heed/train/train.h>

#include <cmath>
#include <numbers>

namespace heed {
namespace {

using testing::HasSubstr;

constexpr Schedule kCosine{.decay = Decay::cosine, .lr = 1, .min_lr = .1, .warmup = 4, .end = 10};

TEST(Cases, O07WarmUpAndCosine) {
  const std::vector<double> right{.2, .4, .6, .8, 1, .939711, .775, .55, .325, .160289, .1, .1, .1};
  for (std::size_t i = 0; i < right.size(); ++i)
    EXPECT_NEAR(kCosine.at(static_cast<std::int64_t>(i)), right[i], 5e-7) << "step " << i;
}

TEST(Cases, O09CosineStaysAtItsFloor) {
  for (std::int64_t step : {10, 11, 15, 16, 17, 100, 1'000'000'000})
    EXPECT_EQ(kCosine.at(step), .1) << "step " << step;
}

/// Parameters of one element each with these gradients.
Parameters with_gradients(const std::vector<double>& gradients, DType dtype) {
  Parameters parameters;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    Tensor x = ones({1}, dtype).requires_grad_();
    backward(sum(x), {.seed = full({}, gradients[i], dtype)});
    parameters.push_back({text("p", i), x});
  }
  return parameters;
}

TEST(Cases, O11ClipHasNoEpsilonInItsFactor) {
  const Parameters p = with_gradients({3, 4}, f64);
  EXPECT_DOUBLE_EQ(clip_grad_norm(p, 1), 5);
  EXPECT_DOUBLE_EQ(p[0].value.grad().item(), .6);
  EXPECT_DOUBLE_EQ(p[1].value.grad().item(), .8);
}

TEST(Cases, O11NormDoesNotOverflow) {
  const Parameters p = with_gradients(std::vector<double>(100, 1e20), f32);
  EXPECT_NEAR(clip_grad_norm(p, 1), 1e21, 1e15);
  for (const NamedTensor& x : p) EXPECT_FLOAT_EQ(static_cast<float>(x.value.grad().item()), .1f);
}

TEST(Cases, O11NonFiniteGradientIsNamedAndNothingTouched) {
  const Parameters p = with_gradients({3, infinity, 4}, f32);
  try {
    clip_grad_norm(p, 1);
    FAIL() << "nothing was thrown";
  } catch (const NonFinite& error) {
    EXPECT_THAT(error.what(), HasSubstr("p1"));
  }
  EXPECT_EQ(p[0].value.grad().item(), 3);
  EXPECT_EQ(p[2].value.grad().item(), 4);
  for (const NamedTensor& x : p) EXPECT_EQ(x.value.item(), 1);
}

TEST(Cases, O12AccumulationWeighsByTargets) {
  // One row of logits, the log-probabilities 1/2, 1/4, 1/4, whatever the input.
  Tensor table =
      tensor({-std::numbers::ln2, -2 * std::numbers::ln2, -2 * std::numbers::ln2}, {1, 3}, f64);
  table.requires_grad_();
  const auto loss = [&](const Batch& batch) {
    return cross_entropy(embedding(table, batch.inputs), batch.targets);
  };
  const auto batch = [](std::vector<std::int64_t> targets) {
    const Shape shape{1, static_cast<std::int64_t>(targets.size())};
    return Batch{tokens(std::vector<std::int64_t>(targets.size(), 0), shape),
                 tokens(std::move(targets), shape),
                 {},
                 {}};
  };
  const std::vector<Batch> parts{batch({0, kIgnore}), batch({1, 1, 1}), batch({kIgnore})};
  EXPECT_NEAR(
      accumulate_gradients(
          {{"table", table}}, 3, [next = parts.begin()]() mutable { return *next++; }, loss),
      1.21300757, 1e-8);
  const std::vector<double> accumulated = table.grad().to_vector();

  table.clear_grad();
  backward(loss(batch({0, 1, 1, 1})));
  const std::vector<double> whole = table.grad().to_vector();
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(accumulated[i], whole[i], 1e-6);
  EXPECT_NEAR(accumulated[0], .25, 1e-12);
  EXPECT_NEAR(accumulated[1], -.5, 1e-12);
}

}  // namespace
}  // namespace heed
