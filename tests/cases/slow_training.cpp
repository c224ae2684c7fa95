// A long training, in a program of its own: CMakeLists.txt says how many steps.
#include <gtest/gtest.h>
#include <heed/autograd/autograd.h>
#include <heed/layers/layers.h>
#include <heed/train/train.h>
#include <unistd.h>

#include <fstream>

namespace heed {
namespace {

constexpr int kSteps = HEED_LONG_TRAINING_STEPS;

/// Memory of the process, in bytes.
std::int64_t resident() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t total = 0, pages = 0;
  statm >> total >> pages;
  return pages * sysconf(_SC_PAGESIZE);
}

Tokens random_tokens(const Shape& shape, std::int64_t vocabulary, Rng& rng) {
  std::vector<std::int64_t> ids(static_cast<std::size_t>(shape.numel()));
  for (std::int64_t& id : ids) id = rng.integer(vocabulary);
  return tokens(ids, shape);
}

TEST(Cases, G05_ALongTrainingLeavesNothingBehind) {
  Rng rng(1);
  Transformer model({.vocabulary = 7, .context = 6, .d_model = 8, .dropout = 0.1}, rng);
  AdamW optimizer(parameters(model));
  const auto leaves = static_cast<std::int64_t>(parameters(model).size());
  Training scope(rng);
  std::int64_t bytes = 0;
  [[maybe_unused]] std::int64_t memory = 0;
  for (int step = 0; step < kSteps; ++step) {
    {
      const Tokens ids = random_tokens({2, 6}, 7, rng);
      const Tensor loss = cross_entropy(model(ids), random_tokens({2, 6}, 7, rng));
      optimizer.zero_grad();
      backward(loss);
      clip_grad_norm(optimizer.parameters(), 1);
      optimizer.step();
    }
    ASSERT_EQ(live_nodes(), leaves) << "step " << step;
    if (step == 0) bytes = live_bytes();
    ASSERT_EQ(live_bytes(), bytes) << "step " << step;
    if (step == kSteps / 2) memory = resident();
  }
#ifndef HEED_SANITIZED  // a sanitizer holds back what is freed
  EXPECT_LE(resident(), memory + (std::int64_t{128} << 10));
#endif
}

}  // namespace
}  // namespace heed
