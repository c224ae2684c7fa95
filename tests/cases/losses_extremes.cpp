// Losses where a term is infinite, or cancels: kinds N09 and N16.
#include "values.h"

namespace heed::cases {
namespace {

TEST(Cases, N09_HuberFarAwayHasTheSlopeOfItsLinearPart) {
  const Tensor x = leaf({0, 3, -1e200, .25}), target = tensor({infinity, 1, 1e200, 0}, {4}, f64);
  const Tensor loss = huber_loss(x, target);
  expect_values(grad(loss, x), {-.25, .25, -.25, .0625});
}

TEST(Cases, N09_KlDivIgnoresWhatTheTargetRulesOut) {
  const Tensor log_p = leaf({-infinity, std::log(.5)}), target = leaf({0, .5});
  const Tensor loss = kl_div(log_p, target);
  EXPECT_EQ(loss.item(), 0);
  const auto grads = grad(loss, std::vector{log_p, target});
  expect_values(grads[0], {0, -.25});
  expect_values(grads[1], {0, .5});
}

TEST(Cases, N16_BinaryCrossEntropyDoesNotCancelInSingle) {
  const Tensor x = leaf({20, -20, 90, -90, 0}, f32), target = tensor({1, 0, 0, 1, 1}, {5}, f32);
  const double small = std::log1p(std::exp(-20));
  for (int i = 0; i < 5; ++i) {
    const Tensor loss =
        binary_cross_entropy_with_logits(slice(x, 0, i, i + 1), slice(target, 0, i, i + 1));
    expect_values(loss,
                  {std::vector{small, small, 90., 90., std::log(2.)}[static_cast<std::size_t>(i)]});
    const double slope =
        std::vector{-2.0611536e-9, 2.0611536e-9, 1., -1., -.5}[static_cast<std::size_t>(i)];
    std::vector<double> expected(5, 0.);
    expected[static_cast<std::size_t>(i)] = slope;
    expect_values(grad(loss, x), expected);
  }
}

}  // namespace
}  // namespace heed::cases
