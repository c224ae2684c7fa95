// Cases of several threads: sums that many add to.
#include <vector>

#include "values.h"

namespace heed::cases {
namespace {

class OnThreads : public testing::TestWithParam<int> {
 protected:
  static constexpr int kRuns = 80;
  void SetUp() override { set_threads(GetParam()); }
  void TearDown() override { set_threads(before_); }

 private:
  const int before_ = threads();
};

TEST_P(OnThreads, R02_NeighboursShareAGradient) {
  std::vector<double> halves;
  for (int i = 0; i < 64; ++i) halves.push_back(i / 2.0);
  for (int run = 0; run < kRuns; ++run) {
    const Tensor x = leaf(halves);
    backward(sum(slice(x, 0, 1, 64) * slice(x, 0, 0, 63)));
    // x_1 to x_63 have neighbours on both sides but the last: 1984.5 with that of x_0, which is
    // 1/2.
    ASSERT_EQ(sum(x.grad()).item(), 1984.5) << "run " << run;
  }
}

// As many as several threads share.
TEST_P(OnThreads, R02_ManyNeighboursShareAGradient) {
  constexpr std::int64_t kCount = 200'000;
  const Tensor x = (arange(kCount, f64) * 0.5).requires_grad_();
  const auto run = [&] {
    return grad(sum(slice(x, 0, 1, kCount) * slice(x, 0, 0, kCount - 1)), x).to_vector();
  };
  std::vector<double> expected;  // (x[i - 1] + x[i + 1]), which is 2 x[i] but at the ends
  for (std::int64_t i = 0; i < kCount; ++i) expected.push_back(static_cast<double>(i));
  expected.front() = 0.5;
  expected.back() = static_cast<double>(kCount - 2) / 2;
  for (int i = 0; i < 10; ++i) ASSERT_EQ(run(), expected) << "run " << i;
}

TEST_P(OnThreads, R02_ManyEqualIdsInAnEmbedding) {
  constexpr std::int64_t kIds = 10'000, kWidth = 256;
  const Tokens ids = tokens(std::vector<std::int64_t>(kIds, 1), {kIds});
  const Tensor expected =
      concat({zeros({1, kWidth}), full({1, kWidth}, kIds), zeros({1, kWidth})}, 0);
  for (int run = 0; run < kRuns; ++run) {
    const Tensor table = zeros({3, kWidth}).requires_grad_();
    backward(sum(embedding(table, ids)));
    ASSERT_EQ(table.grad().to_vector(), expected.to_vector()) << "run " << run;
  }
}

// The same fault wherever rows are added up: every sum across rows, of numbers whose sum in f32
// depends on the order.
TEST_P(OnThreads, R02_SumsAcrossRowsKeepTheirBits) {
  Rng rng(1);
  const Tensor x = normal({999, 96}, rng), g = normal({999, 96}, rng, 0, 100);
  const Tensor w = normal({96, 96}, rng).requires_grad_(), b = normal({96}, rng).requires_grad_();
  const Tensor scale = normal({96}, rng).requires_grad_(), shift = zeros({96}).requires_grad_();
  const auto gradients = [&] {
    const Tensor y = layer_norm(linear(x, w, b), scale, shift) + sum(x * b, 0);
    std::vector<std::vector<double>> found;
    for (const Tensor& d : grad(y, std::vector{w, b, scale, shift}, {.seed = g}))
      found.push_back(d.to_vector());
    return found;
  };
  set_threads(1);
  const auto alone = gradients();
  set_threads(GetParam());
  for (int run = 0; run < kRuns; ++run) ASSERT_EQ(gradients(), alone) << "run " << run;
}

INSTANTIATE_TEST_SUITE_P(Cases, OnThreads, testing::Values(1, 4, 8));

}  // namespace
}  // namespace heed::cases
