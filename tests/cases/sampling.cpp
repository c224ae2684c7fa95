#include <gtest/gtest.h>
#include <heed/autograd/autograd.h>
#include <heed/layers/layers.h>
#include <heed/train/train.h>

#include <cmath>

namespace heed {
namespace {

const std::vector<double> kLogits{1, 2, 2.5};

TEST(Cases, P01Temperature) {
  Rng rng(1);
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(sample_token(kLogits, {.temperature = 0}, rng), 2);
    EXPECT_EQ(sample_token(kLogits, {.temperature = 1e-4}, rng), 2);
  }
  EXPECT_THROW(sample_token(kLogits, {.temperature = -1}, rng), ValueError);
  EXPECT_THROW(sample_token(kLogits, {.temperature = std::nan("")}, rng), ValueError);
}

TEST(Cases, P03TopK) {
  Rng rng(1);
  std::vector<int> seen(3);
  for (int i = 0; i < 500; ++i)
    ++seen[static_cast<std::size_t>(sample_token(kLogits, {.top_k = 10}, rng))];
  for (int count : seen) EXPECT_GT(count, 0);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(sample_token(kLogits, {.top_k = 1}, rng), 2);
  EXPECT_THROW(sample_token(kLogits, {.top_k = 0}, rng), ValueError);
  EXPECT_THROW(sample_token(kLogits, {.top_k = -1}, rng), ValueError);
}

TEST(Cases, P03TopPAndMinPOutOfRange) {
  Rng rng(1);
  for (const double p : {0., -.1, 1.1, std::nan("")})
    EXPECT_THROW(sample_token(kLogits, {.top_p = p}, rng), ValueError) << p;
  for (const double p : {-.1, 1.1, std::nan("")})
    EXPECT_THROW(sample_token(kLogits, {.min_p = p}, rng), ValueError) << p;
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(sample_token(kLogits, {.top_p = 1e-9}, rng), 2);
    EXPECT_EQ(sample_token(kLogits, {.min_p = 1}, rng), 2);
  }
}

TEST(Cases, L08ThePromptMayBeLongerThanTheContext) {
  Rng init(1), rng(2);
  const Transformer model({.vocabulary = 5, .context = 8, .layers = 1, .heads = 1, .d_model = 4},
                          init);
  const auto logits = [&](const Tokens& ids) { return model(ids); };
  const SamplingOptions greedy{.temperature = 0};
  const std::vector<std::int64_t> nine{4, 0, 1, 2, 3, 0, 1, 2, 3};
  const auto last_eight = std::span(nine).last(8);

  const Generated longer = generate(logits, 8, nine, 1, greedy, rng);
  EXPECT_EQ(longer.ids, generate(logits, 8, last_eight, 1, greedy, rng).ids);
  EXPECT_EQ(longer.forgotten, 1);
  const Generated more = generate(logits, 8, last_eight, 5, greedy, rng);
  EXPECT_EQ(more.ids.size(), 5u);
  EXPECT_EQ(more.forgotten, 4);

  for (const auto& prompt : {std::span<const std::int64_t>(nine), last_eight}) {  // with a cache
    const Generated cached = generate(model, prompt, 5, greedy, rng);
    const Generated whole = generate(logits, 8, prompt, 5, greedy, rng);
    EXPECT_EQ(cached.ids, whole.ids);
    EXPECT_EQ(cached.forgotten, whole.forgotten);
  }
}

}  // namespace
}  // namespace heed
