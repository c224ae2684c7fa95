// Tensors that are larger than a chunk: what lies behind the first one counts like what is in it.
#include <gtest/gtest.h>
#include <heed/autograd/autograd.h>

#include <vector>

namespace heed {
namespace {

constexpr std::int64_t kLarge = (1 << 17) + 5;  // elements: several chunks, and one that is shorter

TEST(Chunks, DropoutDrawsOnAcrossThem) {
  Rng rng(1), same(1);
  const Training scope(rng);
  for (int call = 0; call < 2; ++call) {
    const std::vector<double> y = dropout(ones({kLarge}, f64), 0.5).to_vector();
    std::int64_t wrong = 0;
    for (const double v : y) wrong += v != (same.uniform() < 0.5 ? 0. : 2.);
    EXPECT_EQ(wrong, 0) << "call " << call;
  }
}

TEST(Chunks, LayerNormAddsUpTheGradientOfItsWeight) {
  Rng rng(1);
  const Tensor x = normal({kLarge, 3}, rng, 0, 1, f64), seed = normal({kLarge, 3}, rng, 0, 1, f64);
  const Tensor w = ones({3}, f64).requires_grad_();
  const Tensor y = layer_norm(x, w);
  const std::vector<double> kernel = grad(y, w, {.retain_graph = true, .seed = seed}).to_vector();
  const std::vector<double> graph = grad(y, w, {.create_graph = true, .seed = seed}).to_vector();
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(kernel[i], graph[i], 1e-8);
}

TEST(Chunks, LongSumsAreThoseOfTheirParts) {
  EXPECT_EQ(sum(ones({kLarge})).item(), kLarge);
  for (const std::int64_t columns : {3, 1100}) {
    const std::int64_t rows = 1000;
    for (const double v : sum(ones({rows, columns}), 0).to_vector()) EXPECT_EQ(v, rows);
  }
}

TEST(Chunks, TransposedOperandsOfALargeProductAreCutInTheRightPlace) {
  Rng rng(1);
  const Tensor wide = normal({100, 401}, rng, 0, 1, f64), low = normal({64, 100}, rng, 0, 1, f64);
  const auto expect_near = [](const Tensor& a, const Tensor& b) {
    EXPECT_LT(amax(abs(a - b)).item(), 1e-10);
  };
  expect_near(matmul(low, transpose(wide), {.transpose_b = true}), matmul(low, wide));
  expect_near(matmul(wide, transpose(low), {.transpose_a = true}),
              matmul(transpose(wide), transpose(low)));
}

}  // namespace
}  // namespace heed
