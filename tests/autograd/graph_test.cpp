// The graph: when it grows, how long it lives, and whose it is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heed/autograd/autograd.h>

#include <thread>

#include "support.h"

namespace heed {
namespace {

using testing::ElementsAre;

class Graph : public NothingStays {};

// ---- recording

TEST_F(Graph, NoGradNests) {
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

TEST_F(Graph, NoGradEndsWithAnException) {
  try {
    const NoGrad quiet;
    ones({2}) + ones({3});
  } catch (const ShapeError&) {
  }
  EXPECT_TRUE(grad_enabled());
}

TEST_F(Graph, GradUnderNoGradStillDifferentiatesWhatWasRecorded) {
  const Tensor x = leaf({3});
  const Tensor y = x * x;
  const NoGrad quiet;
  EXPECT_EQ(grad(y, x, {.retain_graph = true}).item(), 6);
  const Tensor dx = grad(y, x, {.create_graph = true});
  EXPECT_EQ(grad(dx, x).item(), 2);
  EXPECT_FALSE(grad_enabled());
}

TEST_F(Graph, DetachCutsTheGraph) {
  const Tensor x = leaf({3});
  EXPECT_EQ(grad(x * x.detach(), x).item(), 3);
  const Tensor h = (x * 2).detach();
  EXPECT_FALSE(h.requires_grad());
  EXPECT_FALSE((h * 3).requires_grad());
}

TEST_F(Graph, OpsOnConstantsMakeNoNodes) {
  const std::int64_t before = live_nodes();
  const Tensor y = exp(ones({2}, f64)) * 2;
  EXPECT_EQ(live_nodes(), before);
}

// ---- life and death

TEST_F(Graph, NodesNumberTheirInputsLower) {
  const Tensor x = leaf({1});
  const Tensor y = x * 2;
  EXPECT_LT(x.node()->number(), y.node()->number());
  const Tensor late = leaf({1});
  EXPECT_LT(y.node()->number(), late.node()->number());
}

TEST_F(Graph, SavedTensorsAreReleasedAsTheSweepPasses) {
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

TEST_F(Graph, KeptGraphDiesWithItsLastHandle) {
  const std::int64_t nodes = live_nodes();
  {
    const Tensor x = leaf({2});
    const Tensor y = exp(x * x);
    const Tensor dx = grad(y, x, {.create_graph = true});
    EXPECT_GT(live_nodes(), nodes + 3);
  }
  EXPECT_EQ(live_nodes(), nodes);
}

TEST_F(Graph, OpOutlivesItsInputHandles) {
  Tensor y;
  Tensor x = leaf({2});
  {
    const Tensor h = x * 3;
    y = h * h;
  }
  backward(y);
  EXPECT_EQ(x.grad().item(), 36);
}

TEST_F(Graph, ThreadsRunTheirOwnGraphs) {
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

TEST_F(Graph, ThreadsReadTheSameConstants) {
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
