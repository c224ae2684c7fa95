// Cases of losses: targets that do not count.
#include "values.h"

namespace heed::cases {
namespace {

TEST(Cases, L12_MeanOverTheTargetsThatCount) {
  const Tensor x = leaf({.2, 1, .5, .1, .3, .6}, {2, 3});
  const Tokens targets = tokens({1, kIgnore}, {2});
  const std::vector<double> dx = {.218560138498254, -.5135854664351533, .2950253279368993, 0, 0, 0};
  const Tensor loss = cross_entropy(x, targets);
  expect_values(loss, {.7206940689146362});
  expect_values(grad(loss, x, {.retain_graph = true}), dx);
  expect_values(grad(loss, x, {.create_graph = true}), dx);
  const Tensor by_parts = nll_loss(log_softmax(x), targets);
  expect_values(by_parts, {.7206940689146362});
  expect_values(grad(by_parts, x), dx);
  expect_values(cross_entropy(x, targets, {.reduction = Reduction::sum}), {.7206940689146362});
  expect_values(cross_entropy(x, targets, {.reduction = Reduction::none}), {.7206940689146362, 0});
}

TEST(Cases, L13_EveryTargetIgnored) {
  for (const DType dtype : {f64, f32})
    for (const double smoothing : {0., .1}) {
      const Tensor x = leaf({.2, 1, .5, .1, .3, .6}, {2, 3}, dtype);
      const Tokens targets = tokens({kIgnore, kIgnore}, {2});
      const Tensor loss = cross_entropy(x, targets, {.label_smoothing = smoothing});
      EXPECT_EQ(loss.item(), 0);
      for (const bool create_graph : {true, false})
        EXPECT_EQ(grad(loss, x, {.create_graph = create_graph}).to_vector(),
                  std::vector<double>(6, 0));
      const Tensor by_parts = nll_loss(log_softmax(x), targets);
      EXPECT_EQ(by_parts.item(), 0);
      EXPECT_EQ(grad(by_parts, x).to_vector(), std::vector<double>(6, 0));
    }
}

TEST(Cases, L13_EmptyBatch) {
  const Tensor x = leaf({}, {0, 3});
  const Tensor loss = cross_entropy(x, tokens({}, {0}));
  EXPECT_EQ(loss.item(), 0);
  EXPECT_EQ(grad(loss, x).shape(), (Shape{0, 3}));
}

TEST(Cases, L17_OneClassLeavesNothingToLearn) {
  const Tensor x = leaf({5, -3}, {2, 1});
  const Tensor loss = cross_entropy(x, tokens({0, 0}, {2}));
  EXPECT_EQ(loss.item(), 0);
  EXPECT_EQ(grad(loss, x).to_vector(), (std::vector<double>{0, 0}));
}

}  // namespace
}  // namespace heed::cases
