// The sweep: what grad and backward promise.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heed/autograd/autograd.h>

#include <cmath>

#include "support.h"

namespace heed {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class Engine : public NothingStays {};

// ---- what grad gives

TEST_F(Engine, GradientsOfLeavesAndOfWhatIsBetween) {
  const Tensor x = leaf({3});
  const Tensor h = x * 2;
  const Tensor y = h * h;
  const std::vector<Tensor> grads = grad(y, std::vector{x, h, y});
  EXPECT_EQ(grads[0].item(), 24);
  EXPECT_EQ(grads[1].item(), 12);
  EXPECT_EQ(grads[2].item(), 1);
  EXPECT_FALSE(x.grad().defined());
}

TEST_F(Engine, WhatWasBeforeTheInputMayStillBeDifferentiated) {
  const Tensor x = leaf({3});
  const Tensor h = x * x;
  EXPECT_EQ(grad(h * h, h).item(), 18);
  EXPECT_EQ(grad(h, x).item(), 6);
}

TEST_F(Engine, TheSameInputMayBeAskedForTwice) {
  const Tensor x = leaf({3});
  const std::vector<Tensor> grads = grad(x * x, std::vector{x, x});
  EXPECT_EQ(grads[0].item(), 6);
  EXPECT_EQ(grads[1].item(), 6);
}

TEST_F(Engine, GradientOfATensorToItselfIsTheSeed) {
  const Tensor x = leaf({3, 4});
  const Tensor seed = tensor({5, 6}, {2}, f64);
  EXPECT_THAT(grad(x, x, {.seed = seed}).to_vector(), ElementsAre(5, 6));
}

TEST_F(Engine, GradientsMayBeChangedOneByOne) {
  const Tensor a = ones({2}, f64).requires_grad_(), b = ones({2}, f64).requires_grad_();
  const Tensor seed = full({2}, 3, f64);
  std::vector<Tensor> found = grad(a + b, {a, b}, {.seed = seed});
  found[0].mutate<double>()[0] = 9;
  EXPECT_EQ(found[1].to_vector(), (std::vector<double>{3, 3}));
  EXPECT_EQ(seed.to_vector(), (std::vector<double>{3, 3}));
}

TEST_F(Engine, UnusedInputHasZeros) {
  const Tensor x = leaf({1, 2}), unused = leaf({3, 4, 5});
  const std::vector<Tensor> grads = grad(sum(x), std::vector{unused, x});
  EXPECT_THAT(grads[0].to_vector(), ElementsAre(0, 0, 0));
  EXPECT_THAT(grads[1].to_vector(), ElementsAre(1, 1));
  EXPECT_THAT(grad(ones({}, f64), x).to_vector(), ElementsAre(0, 0));
  const Tensor later = sum(x) * 2;  // newer than what is differentiated
  EXPECT_EQ(grad(sum(x), later).item(), 0);
  const Tensor total = sum(x), newest = x * 3;  // made after all that is differentiated
  EXPECT_THAT(grad(total, newest).to_vector(), ElementsAre(0, 0));
}

TEST_F(Engine, InputThatWantsNoGradientIsRefused) {
  const Tensor x = leaf({1}), constant = ones({2, 3}, f64);
  EXPECT_THAT(error_of<GraphError>([&] {
                grad(x, std::vector{x, constant});
              }),
              AllOf(HasSubstr("input 1"), HasSubstr("(2, 3)"), HasSubstr("requires_grad_()")));
}

TEST_F(Engine, SeveralElementsNeedASeed) {
  const Tensor x = leaf({1, 2, 3});
  const auto names_the_way_out =
      AllOf(HasSubstr("(3)"), HasSubstr("sum()"), HasSubstr("{.seed = v}"));
  EXPECT_THAT(error_of<GraphError>([&] { grad(x * 2, x); }), names_the_way_out);
  EXPECT_THAT(error_of<GraphError>([&] { backward(x * 2); }), names_the_way_out);
  EXPECT_THAT(grad(x * 2, x, {.seed = tensor({1, 10, 100}, {3}, f64)}).to_vector(),
              ElementsAre(2, 20, 200));
  const Tensor one = reshape(sum(x), {1, 1});
  EXPECT_THAT(grad(one, x).to_vector(), ElementsAre(1, 1, 1));
}

TEST_F(Engine, SeedOfOtherShapeOrTypeIsRefused) {
  const Tensor x = leaf({1, 2, 3});
  const Tensor y = x * 2;
  EXPECT_THAT(error_of<ShapeError>([&] {
                grad(y, x, {.seed = ones({3, 1}, f64)});
              }),
              AllOf(HasSubstr("seed"), HasSubstr("(3, 1)"), HasSubstr("(3)")));
  EXPECT_THAT(error_of<DTypeError>([&] { backward(y, {.seed = ones({3}, f32)}); }),
              AllOf(HasSubstr("seed"), HasSubstr("f32"), HasSubstr("f64")));
}

TEST_F(Engine, LossWithoutAnyLeafIsRefused) {
  EXPECT_THAT(error_of<GraphError>([] { backward(ones({}, f64)); }), HasSubstr("NoGrad"));
  const Tensor x = leaf({1});
  EXPECT_THROW(backward(x.detach() * 2), GraphError);
  const NoGrad quiet;
  EXPECT_THROW(backward(x * 2), GraphError);
}

// ---- leaves

TEST_F(Engine, BackwardAddsUpInLeaves) {
  const Tensor x = leaf({1, 2});
  backward(sum(x * 3));
  EXPECT_THAT(x.grad().to_vector(), ElementsAre(3, 3));
  backward(sum(x * x));
  EXPECT_THAT(x.grad().to_vector(), ElementsAre(5, 7));
  x.grad();
  Tensor(x).clear_grad();
  EXPECT_FALSE(x.grad().defined());
}

TEST_F(Engine, LeavesShareNoGradient) {
  const Tensor a = leaf({1, 2}), b = leaf({3, 4});
  const Tensor seed = tensor({1, 1}, {2}, f64);
  backward(a + b, {.seed = seed});
  backward(reshape(a, {2, 1}) + reshape(b, {2, 1}), {.seed = reshape(seed, {2, 1})});
  EXPECT_NE(a.grad().storage(), b.grad().storage());
  EXPECT_NE(a.grad().storage(), seed.storage());
  EXPECT_NE(b.grad().storage(), seed.storage());
  Tensor(a.grad()).mutate<double>()[0] = 100;
  EXPECT_THAT(b.grad().to_vector(), ElementsAre(2, 2));
  EXPECT_THAT(seed.to_vector(), ElementsAre(1, 1));
}

TEST_F(Engine, LeafThatIsTheLossTakesACopyOfTheSeed) {
  const Tensor x = leaf({1, 2});
  Tensor seed = tensor({5, 6}, {2}, f64);
  backward(x, {.seed = seed});
  seed.mutate<double>()[0] = 100;
  EXPECT_THAT(x.grad().to_vector(), ElementsAre(5, 6));
}

TEST_F(Engine, GradientThatSomeoneHoldsIsNotChangedByTheNextBackward) {
  const Tensor x = leaf({1, 2});
  backward(sum(x * 3));
  const Tensor first = x.grad(), view = reshape(first, {2, 1});
  backward(sum(x * 3));
  EXPECT_THAT(first.to_vector(), ElementsAre(3, 3));
  EXPECT_THAT(view.to_vector(), ElementsAre(3, 3));
  EXPECT_THAT(x.grad().to_vector(), ElementsAre(6, 6));
}

TEST_F(Engine, GradientOfALeafHasNoGraph) {
  const Tensor x = leaf({2});
  backward(x * x * x);
  EXPECT_FALSE(x.grad().requires_grad());
}

// ---- gradients of gradients

TEST_F(Engine, DerivativesOfAFourthPower) {
  const Tensor x = leaf({1.5});
  const Tensor y = pow(x, 4);
  const Tensor first = grad(y, x, {.create_graph = true});
  const Tensor second = grad(first, x, {.create_graph = true});
  const Tensor third = grad(second, x, {.create_graph = true});
  const Tensor fourth = grad(third, x, {.create_graph = true});
  EXPECT_DOUBLE_EQ(first.item(), 4 * std::pow(1.5, 3));
  EXPECT_DOUBLE_EQ(second.item(), 12 * std::pow(1.5, 2));
  EXPECT_DOUBLE_EQ(third.item(), 24 * 1.5);
  EXPECT_DOUBLE_EQ(fourth.item(), 24);
  EXPECT_EQ(grad(fourth, x).item(), 0);
}

TEST_F(Engine, DerivativesOfTanh) {
  const Tensor x = leaf({0.3});
  const Tensor first = grad(tanh(x), x, {.create_graph = true});
  const Tensor second = grad(first, x, {.create_graph = true});
  const Tensor third = grad(second, x);
  const double t = std::tanh(0.3), s = 1 - t * t;
  EXPECT_NEAR(first.item(), s, 1e-15);
  EXPECT_NEAR(second.item(), -2 * t * s, 1e-15);
  EXPECT_NEAR(third.item(), -2 * s * (1 - 3 * t * t), 1e-15);
}

TEST_F(Engine, ThirdDerivativeThroughComposedOps) {
  const Tensor x = tensor({.3, -1.2, .8}, {1, 3}, f64).requires_grad_();
  const auto f = [](const Tensor& v) { return sum(pow(silu(layer_norm(v, {}, {}, .5)), 3)); };
  const auto second = [&](const Tensor& v) {
    const Tensor first = grad(f(v), v, {.create_graph = true});
    return grad(sum(square(first)), v, {.create_graph = true});
  };
  const Tensor third = grad(sum(square(second(x))), x);
  const double h = 1e-5;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto at = [&](double step) {
      Tensor moved = x.detach().clone();
      moved.mutate<double>()[i] += step;
      return sum(square(second(moved.requires_grad_()))).item();
    };
    EXPECT_NEAR(third.to_vector()[i], (at(h) - at(-h)) / (2 * h),
                1e-6 * std::abs(third.to_vector()[i]) + 1e-6);
  }
}

TEST_F(Engine, BackwardThroughAGradient) {
  const Tensor x = leaf({2, 3});
  const Tensor penalty = sum(square(grad(sum(x * x * x), x, {.create_graph = true})));
  backward(penalty);  // the sum of (3x²)², so 36x³
  EXPECT_THAT(x.grad().to_vector(), ElementsAre(288, 972));
}

}  // namespace
}  // namespace heed
