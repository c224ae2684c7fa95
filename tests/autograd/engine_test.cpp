// The sweep: what grad and backward promise.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heed/autograd/autograd.h>

#include <cmath>
#include <thread>

#include "errors.h"

namespace heed {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

Tensor leaf(std::vector<double> values) {
  const auto n = static_cast<std::int64_t>(values.size());
  return tensor(std::move(values), {n}, f64).requires_grad_();
}

/// Whatever a test makes is gone when it ends.
class Engine : public testing::Test {
 protected:
  void TearDown() override {
    EXPECT_EQ(live_nodes(), nodes_);
    EXPECT_EQ(live_bytes(), bytes_);
    EXPECT_TRUE(grad_enabled());
  }

 private:
  const std::int64_t nodes_ = live_nodes(), bytes_ = live_bytes();
};

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

TEST_F(Engine, UnusedInputHasZeros) {
  const Tensor x = leaf({1, 2}), unused = leaf({3, 4, 5});
  const std::vector<Tensor> grads = grad(sum(x), std::vector{unused, x});
  EXPECT_THAT(grads[0].to_vector(), ElementsAre(0, 0, 0));
  EXPECT_THAT(grads[1].to_vector(), ElementsAre(1, 1));
  EXPECT_THAT(grad(ones({}, f64), x).to_vector(), ElementsAre(0, 0));
  const Tensor later = sum(x) * 2;  // newer than what is differentiated
  EXPECT_EQ(grad(sum(x), later).item(), 0);
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

// ---- recording

TEST_F(Engine, NoGradNests) {
  const Tensor x = leaf({1});
  {
    const NoGrad outer;
    {
      const NoGrad inner;
      EXPECT_FALSE((x * 2).requires_grad());
    }
    EXPECT_FALSE((x * 2).requires_grad());
    {
      const GradMode on(true);
      EXPECT_TRUE((x * 2).requires_grad());
    }
    EXPECT_FALSE((x * 2).requires_grad());
  }
  EXPECT_TRUE((x * 2).requires_grad());
}

TEST_F(Engine, NoGradEndsWithAnException) {
  try {
    const NoGrad quiet;
    ones({2}) + ones({3});
  } catch (const ShapeError&) {
  }
  EXPECT_TRUE(grad_enabled());
}

TEST_F(Engine, GradUnderNoGradStillDifferentiatesWhatWasRecorded) {
  const Tensor x = leaf({3});
  const Tensor y = x * x;
  const NoGrad quiet;
  EXPECT_EQ(grad(y, x, {.retain_graph = true}).item(), 6);
  const Tensor dx = grad(y, x, {.create_graph = true});
  EXPECT_EQ(grad(dx, x).item(), 2);
  EXPECT_FALSE(grad_enabled());
}

TEST_F(Engine, DetachCutsTheGraph) {
  const Tensor x = leaf({3});
  EXPECT_EQ(grad(x * x.detach(), x).item(), 3);
  const Tensor h = (x * 2).detach();
  EXPECT_FALSE(h.requires_grad());
  EXPECT_FALSE((h * 3).requires_grad());
}

TEST_F(Engine, OpsOnConstantsMakeNoNodes) {
  const std::int64_t before = live_nodes();
  const Tensor y = exp(ones({2}, f64)) * 2;
  EXPECT_EQ(live_nodes(), before);
}

// ---- life and death

TEST_F(Engine, NodesNumberTheirInputsLower) {
  const Tensor x = leaf({1});
  const Tensor y = x * 2;
  EXPECT_LT(x.node()->number(), y.node()->number());
  const Tensor late = leaf({1});
  EXPECT_LT(y.node()->number(), late.node()->number());
}

TEST_F(Engine, SavedTensorsAreReleasedAsTheSweepPasses) {
  const Tensor x = leaf(std::vector<double>(1000, 0.5));
  const std::int64_t before = live_bytes();
  Tensor y = x;
  for (int i = 0; i < 10; ++i) y = exp(y * 0.1);
  const Tensor loss = sum(y);
  EXPECT_GT(live_bytes() - before, 10 * 8000);
  y = Tensor();
  const Tensor dx = grad(loss, x);
  EXPECT_LT(live_bytes() - before, 3 * 8000);
}

TEST_F(Engine, KeptGraphDiesWithItsLastHandle) {
  const std::int64_t nodes = live_nodes();
  {
    const Tensor x = leaf({2});
    const Tensor y = exp(x * x);
    const Tensor dx = grad(y, x, {.create_graph = true});
    EXPECT_GT(live_nodes(), nodes + 3);
  }
  EXPECT_EQ(live_nodes(), nodes);
}

TEST_F(Engine, OpOutlivesItsInputHandles) {
  Tensor y;
  Tensor x = leaf({2});
  {
    const Tensor h = x * 3;
    y = h * h;
  }
  backward(y);
  EXPECT_EQ(x.grad().item(), 36);
}

TEST_F(Engine, ThreadsRunTheirOwnGraphs) {
  const auto train = [](double start) {
    const Tensor x = leaf({start});
    const Tensor w = leaf({start, 1, 2});
    double total = 0;
    for (int i = 0; i < 200; ++i) {
      const Tensor y = sum(softmax(w * x) * tanh(w));
      const std::vector<Tensor> grads = grad(y, std::vector{x, w}, {.create_graph = true});
      total += grad(sum(grads[1]) * grads[0], x).item();
    }
    return total;
  };
  const double expected[] = {train(0.5), train(-1)};
  double found[2] = {};
  std::thread first([&] { found[0] = train(0.5); });
  std::thread second([&] { found[1] = train(-1); });
  first.join();
  second.join();
  EXPECT_EQ(found[0], expected[0]);
  EXPECT_EQ(found[1], expected[1]);
}

TEST_F(Engine, ThreadsReadTheSameConstants) {
  const Tensor shared = tensor({1, 2, 3}, {3}, f64);
  const auto differentiate = [&] {
    for (int i = 0; i < 200; ++i) {
      const Tensor x = leaf({1, 1, 1});
      EXPECT_THAT(grad(sum(x * shared), x).to_vector(), ElementsAre(1, 2, 3));
    }
  };
  std::thread other(differentiate);
  differentiate();
  other.join();
}

}  // namespace
}  // namespace heed
