// Memory: the cache, and what a step of training asks of the system once it is warm.
#include <gtest/gtest.h>
#include <heed/autograd/autograd.h>

#include <cstdint>
#include <cstdlib>
#include <latch>
#include <new>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "counting_new.h"

namespace heed {
namespace {

struct Asked {
  long in_all, for_tensors;
};

/// What `step` asks of the system after it has run often enough to be warm.
template <class Step>
Asked asked_when_warm(Step step) {
  for (int i = 0; i < 3; ++i) step();
  const long in_all = allocations, for_tensors = tensor_allocations;
  for (int i = 0; i < 5; ++i) step();
  return {allocations - in_all, tensor_allocations - for_tensors};
}

void descend(Tensor parameter) {
  const Tensor gradient = parameter.grad();
  const auto from = gradient.data<float>();
  const auto to = parameter.mutate<float>();
  for (std::size_t i = 0; i < to.size(); ++i) to[i] -= 0.01f * from[i];
  parameter.clear_grad();
}

class Allocation : public testing::Test {
 protected:
  void SetUp() override {
    const char* cache = std::getenv("HEED_CACHE");
    if (cache && std::string_view(cache) == "0") GTEST_SKIP() << "the cache is off";
  }
};

TEST_F(Allocation, WarmStepOfProductsAndActivationsAsksNothing) {
  Rng rng(1);
  const Tensor x = normal({8, 16}, rng), seed = normal({8, 4}, rng);
  const Tensor first = normal({16, 32}, rng).requires_grad_();
  const Tensor second = normal({32, 4}, rng).requires_grad_();
  const Asked asked = asked_when_warm([&] {
    backward(tanh(matmul(gelu(matmul(x, first)), second)) * 0.5, {.seed = seed});
    descend(first);
    descend(second);
  });
  EXPECT_EQ(asked.in_all, 0);
}

// `split` gives a std::vector, which is not ours; tensors, nodes and gradients are all recycled.
TEST_F(Allocation, TensorsOfAWarmTrainingStepComeFromTheCache) {
  Rng rng(1);
  const Tokens ids = tokens({1, 2, 3, 4, 5, 6, 7, 0}, {2, 4});
  const std::vector<Tensor> parameters = {
      normal({8, 16}, rng).requires_grad_(), normal({16, 48}, rng).requires_grad_(),
      zeros({48}).requires_grad_(),          ones({16}).requires_grad_(),
      zeros({16}).requires_grad_(),          normal({16, 8}, rng).requires_grad_()};
  Rng drops(2);
  const Asked asked = asked_when_warm([&] {
    const Training scope(drops);
    const Tensor x = embedding(parameters[0], ids);
    const std::vector<Tensor> qkv = split(linear(x, parameters[1], parameters[2]), 16, -1);
    const Tensor seen = attention(qkv[0], qkv[1], qkv[2], {.heads = 2, .causal = true});
    const Tensor h = layer_norm(x + dropout(seen, 0.1), parameters[3], parameters[4]);
    backward(cross_entropy(matmul(h, parameters[5]), ids));
    for (const Tensor& parameter : parameters) descend(parameter);
  });
  EXPECT_EQ(asked.for_tensors, 0);
}

// The block of a tensor's elements holds its state too.
TEST_F(Allocation, AnOpTakesABlockForItsTensorAndOneForItsNode) {
  constexpr int kOps = 100;
  const auto blocks_of_chain = [](const Tensor& x) {
    std::vector<Tensor> kept = {x + 1};
    kept.reserve(kOps + 1);
    empty_cache();
    const long before = tensor_allocations;
    for (int i = 0; i < kOps; ++i) kept.push_back(kept.back() * 2);
    return tensor_allocations - before;
  };
  EXPECT_LE(blocks_of_chain(ones({4}).requires_grad_()), 2 * kOps);
  EXPECT_LE(blocks_of_chain(ones({4})), kOps);
}

TEST_F(Allocation, ColdStepIsCounted) {
  empty_cache();
  const long before = tensor_allocations;
  const Tensor x = zeros({1000});
  EXPECT_GT(tensor_allocations, before);
}

TEST_F(Allocation, ReleasedBlockServesTheNextOfItsSize) {
  const void* first = zeros({1000}).storage()->data();
  EXPECT_EQ(zeros({1000}).storage()->data(), first);
  EXPECT_NE(zeros({5000}).storage()->data(), first);
}

// In a process of its own: the environment is read once.
TEST(Memory, NothingIsKeptWhereTheEnvironmentSaysSo) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto asked_by_the_second = [] {
    zeros({1000});
    const long before = tensor_allocations;
    zeros({1000});
    return tensor_allocations - before;
  };
  const char* const was = std::getenv("HEED_CACHE");
  const std::string before = was ? was : "";
  ::setenv("HEED_CACHE", "0", 1);
  EXPECT_EXIT(std::exit(asked_by_the_second() > 0 ? 0 : 1), testing::ExitedWithCode(0), "");
  was ? ::setenv("HEED_CACHE", before.c_str(), 1) : ::unsetenv("HEED_CACHE");
}

// Wherever memory runs out in a sweep, nodes and memory are as before, and the next sweep is right.
TEST(Memory, ASweepThatRunsOutLeavesNoTrace) {
  const Tensor x = tensor({1, 2, 3}, {3}, f64).requires_grad_();
  const Tensor y = sum(exp(x * x) * x);
  const std::vector<double> expected = grad(y, x, {.retain_graph = true}).to_vector();
  const std::int64_t bytes = live_bytes();
  int failed = 0;
  for (long k = 0;; ++k) {
    empty_cache();
    until_failure = k;
    bool finished = false;
    try {
      (void)grad(y, x, {.retain_graph = true});
      finished = true;
    } catch (const std::bad_alloc&) {
      ++failed;
    }
    until_failure = -1;
    ASSERT_EQ(live_bytes(), bytes) << "failure " << k;
    ASSERT_EQ(grad(y, x, {.retain_graph = true}).to_vector(), expected) << "failure " << k;
    if (finished) break;
  }
  EXPECT_GT(failed, 5);
}

TEST(Memory, KeptBlocksAreGivenUpBeforeMemoryRunsOut) {
  { const Tensor kept = zeros({1000}); }
  until_failure = 0;
  EXPECT_THROW(zeros({100'000}), std::bad_alloc);
  until_failure = -1;
  const long before = tensor_allocations;
  const Tensor again = zeros({1000});
  EXPECT_GT(tensor_allocations, before);
}

// All that a forward and a backward ask for, together, is less than the weights alone would be,
// even where every buffer is asked for anew (HEED_CACHE=0): they are never held, neither are the
// scores.
TEST(Memory, AttentionTakesMemoryForItsRowsAndNotForItsWeights) {
  constexpr std::int64_t kTime = 2048;
  Rng rng(1);
  const Tensor x = normal({1, kTime, 16}, rng).requires_grad_();
  const Tensor seed = normal({1, kTime, 16}, rng);
  empty_cache();
  for (const bool alibi : {false, true}) {
    const long before = tensor_bytes;
    const Tensor y = attention(x, x, x, {.heads = 1, .causal = true, .alibi = alibi});
    backward(y, {.seed = seed});
    EXPECT_LT(tensor_bytes - before, kTime * kTime * 4 / 2) << (alibi ? "alibi" : "plain");
  }
}

TEST(Memory, LiveBytesFollowWhatIsHeld) {
  const std::int64_t before = live_bytes();
  {
    const Tensor x = zeros({1000}, f64);
    EXPECT_GE(live_bytes(), before + 8000);
    EXPECT_LE(live_bytes(), before + 10500);  // a size class wastes at most a quarter
    const Tensor view = reshape(x, {10, 100});
    EXPECT_LE(live_bytes(), before + 10800);
  }
  EXPECT_EQ(live_bytes(), before);
}

// Sanitizers end the program here; they run without the cache.
TEST_F(Allocation, BytesThatCouldNotBeHadAreNotCounted) {
  const std::int64_t before = live_bytes();
  EXPECT_THROW(zeros({std::int64_t{1} << 60}), std::bad_alloc);
  EXPECT_EQ(live_bytes(), before);
}

TEST(Memory, BlocksMayDieOnAnotherThread) {
  const std::int64_t before = live_bytes();
  Tensor x = zeros({1000});
  std::thread([moved = std::move(x)]() mutable { moved = Tensor(); }).join();
  EXPECT_EQ(live_bytes(), before);
}

TEST(Memory, WhatAThreadMadeIsCountedWhileItRunsAndAfterItHasEnded) {
  const std::int64_t before = live_bytes(), nodes = live_nodes();
  Tensor x;
  std::latch made(1), seen(1);
  std::thread other([&] {
    x = zeros({1000}).requires_grad_();
    made.count_down();
    seen.wait();
  });
  made.wait();
  EXPECT_GE(live_bytes(), before + 4000);
  EXPECT_EQ(live_nodes(), nodes + 1);
  seen.count_down();
  other.join();
  EXPECT_GE(live_bytes(), before + 4000);
  EXPECT_EQ(live_nodes(), nodes + 1);
  x = Tensor();
  EXPECT_EQ(live_bytes(), before);
  EXPECT_EQ(live_nodes(), nodes);
}

TEST(Memory, EveryCommonSizeIsAlignedAndWritable) {
  for (std::size_t bytes = 0; bytes < 5000; ++bytes) {
    auto* block = static_cast<unsigned char*>(allocate(bytes));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % 64, 0U);
    for (std::size_t i = 0; i < bytes; ++i) block[i] = 1;
    release(block, bytes);
  }
}

}  // namespace
}  // namespace heed
