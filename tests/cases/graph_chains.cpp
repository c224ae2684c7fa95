// Case G04: chains of nodes that no recursion survives.
#include <cmath>

#include "small_stack.h"
#include "values.h"

namespace heed::cases {
namespace {

/// y = x (1 + 1e-6)^n in `n` steps of two nodes.
Tensor chain(const Tensor& x, int n) {
  Tensor y = x;
  for (int i = 0; i < n; ++i) y = y + y * 1e-6;
  return y;
}

TEST(Cases, G04_ChainIsBuiltDifferentiatedAndDropped) {
  const std::int64_t before = live_nodes();
  on_small_stack([] {
    const Tensor x = leaf({2});
    const Tensor y = chain(x, 100'000);
    EXPECT_NEAR(y.item(), 2.2103417256, 1e-9);
    EXPECT_NEAR(grad(y, x).item(), 1.1051708628, 1e-9);
  });
  EXPECT_EQ(live_nodes(), before);
}

TEST(Cases, G04_ChainIsDroppedWithoutABackward) {
  const std::int64_t before = live_nodes();
  on_small_stack([] {
    Tensor y = chain(leaf({2}), 100'000);
    EXPECT_GE(live_nodes(), 200'000);
    y = Tensor();
  });
  EXPECT_EQ(live_nodes(), before);
}

TEST(Cases, G04_ChainCollectsInItsLeaf) {
  const std::int64_t before = live_nodes();
  on_small_stack([] {
    const Tensor x = leaf({2});
    backward(chain(x, 200'000));
    EXPECT_NEAR(x.grad().item(), std::exp(200'000 * std::log1p(1e-6)), 1e-9);
  });
  EXPECT_EQ(live_nodes(), before);
}

TEST(Cases, G04_GraphOfTheGradientIsAChainToo) {
  const std::int64_t before = live_nodes();
  on_small_stack([] {
    const Tensor x = leaf({2});
    const Tensor y = square(chain(x, 100'000));
    const Tensor dx = grad(y, x, {.create_graph = true});
    const double factor = std::exp(200'000 * std::log1p(1e-6));
    EXPECT_NEAR(dx.item(), 4 * factor, 1e-8);
    EXPECT_NEAR(grad(dx, x).item(), 2 * factor, 1e-8);
  });
  EXPECT_EQ(live_nodes(), before);
}

TEST(Cases, G04_ChainOfAProductsGradientIsDroppedUnused) {
  const std::int64_t before = live_nodes();
  on_small_stack([] {
    const Tensor x = leaf({1});
    Tensor y = x;
    for (int i = 0; i < 50'000; ++i) y = tanh(y * 1.0001);
    const Tensor dx = grad(y, x, {.create_graph = true});
    EXPECT_GT(live_nodes(), 200'000);
  });
  EXPECT_EQ(live_nodes(), before);
}

}  // namespace
}  // namespace heed::cases
