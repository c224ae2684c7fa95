// What a whole training step asks of the system once it is warm: nothing.
#include <gtest/gtest.h>
#include <heed/autograd/autograd.h>
#include <heed/layers/layers.h>
#include <heed/train/train.h>

#include <cstdlib>
#include <string_view>
#include <vector>

#include "../autograd/counting_new.h"

namespace heed {
namespace {

struct Asked {
  long of_new, of_malloc;
};

/// Forward, backward, clipping and update; the batch is drawn before.
Asked asked_by_a_warm_step(const TransformerConfig& config, std::int64_t batch) {
  Rng rng(1);
  Rng init = rng.stream("init"), dropout = rng.stream("dropout");
  const Transformer model(config, init);
  const Parameters all = parameters(model);
  AdamW optimizer(all, {.lr = 1e-3});
  std::vector<std::int64_t> ids(static_cast<std::size_t>(batch * config.context));
  for (auto& id : ids) id = rng.integer(config.vocabulary);
  const Tokens inputs(ids, {batch, config.context}), targets(ids, {batch, config.context});
  const auto step = [&] {
    const Training scope(dropout);
    const Tensor loss = cross_entropy(model(inputs), targets);
    optimizer.zero_grad();
    backward(loss);
    clip_grad_norm(all, 1.0);
    optimizer.step();
  };
  for (int i = 0; i < 3; ++i) step();
  const long before = allocations, mallocs_before = mallocs;
  for (int i = 0; i < 5; ++i) step();
  return {allocations - before, mallocs - mallocs_before};
}

class WarmStep : public testing::Test {
 protected:
  void SetUp() override {
    const char* cache = std::getenv("HEED_CACHE");
    if (cache && std::string_view(cache) == "0") GTEST_SKIP() << "the cache is off";
    set_threads(1);  // a worker has a cache of its own, which is warm once it has worked
  }
  void TearDown() override { set_threads(before_); }

 private:
  const int before_ = threads();
};

TEST_F(WarmStep, OfAToyAsksNothing) {
  const Asked asked = asked_by_a_warm_step(
      {.vocabulary = 16, .context = 16, .layers = 2, .heads = 2, .d_model = 32, .dropout = 0.1},
      32);
  EXPECT_EQ(asked.of_new, 0);
  EXPECT_EQ(asked.of_malloc, 0);
}

// Large enough for products to be packed into buffers.
TEST_F(WarmStep, OfALargerModelAsksNothing) {
  const Asked asked = asked_by_a_warm_step(
      {.vocabulary = 65, .context = 64, .layers = 1, .heads = 4, .d_model = 128}, 12);
  EXPECT_EQ(asked.of_new, 0);
  EXPECT_EQ(asked.of_malloc, 0);
}

TEST_F(WarmStep, OfWhichTheFirstIsCounted) {
  empty_cache();
  const long before = allocations, mallocs_before = mallocs;
  const Tensor x = zeros({1000});
  EXPECT_GT(allocations, before);
  EXPECT_GT(mallocs, mallocs_before);
}

}  // namespace
}  // namespace heed
