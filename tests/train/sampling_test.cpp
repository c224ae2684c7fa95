#include <gtest/gtest.h>
#include <heed/autograd/autograd.h>
#include <heed/train/train.h>

#include <array>
#include <cmath>

#include "support.h"

namespace heed {
namespace {

const std::vector<double> kLogits{1, 2, 2.5};

/// How often each id is drawn.
std::array<int, 3> draws(const SamplingOptions& options, int n) {
  Rng rng(1);
  std::array<int, 3> counts{};
  for (int i = 0; i < n; ++i)
    ++counts[static_cast<std::size_t>(sample_token(kLogits, options, rng))];
  return counts;
}

TEST(Sampling, DrawsFromTheSoftmax) {
  for (double temperature : {.5, 1., 2.}) {
    double sum = 0;
    for (double x : kLogits) sum += std::exp(x / temperature);
    const auto counts = draws({.temperature = temperature}, 20'000);
    for (std::size_t i = 0; i < 3; ++i) {
      const double p = std::exp(kLogits[i] / temperature) / sum;
      EXPECT_NEAR(counts[i] / 20'000., p, 4 * std::sqrt(p * (1 - p) / 20'000)) << temperature;
    }
  }
}

TEST(Sampling, TopKDrawsOnlyFromTheLikeliest) {
  const auto counts = draws({.top_k = 2}, 20'000);
  EXPECT_EQ(counts[0], 0);
  EXPECT_NEAR(counts[2] / 20'000., 1 / (1 + std::exp(-.5)), .015);
}

TEST(Sampling, TopPDrawsFromTheFewestThatHaveTheProbability) {
  // Probabilities .12, .33, .55: the likeliest alone has .5, both have .6 and .87.
  EXPECT_EQ(draws({.top_p = .5}, 200)[2], 200);
  for (const double p : {.6, .87}) {
    const auto counts = draws({.top_p = p}, 20'000);
    EXPECT_EQ(counts[0], 0);
    EXPECT_NEAR(counts[2] / 20'000., 1 / (1 + std::exp(-.5)), .015) << p;
  }
  EXPECT_GT(draws({.top_p = .9}, 500)[0], 0);
  EXPECT_EQ(draws({.top_p = 1}, 20'000), draws({}, 20'000));
  EXPECT_EQ(draws({.temperature = .1, .top_p = .9}, 200)[2], 200) << "after the temperature";
}

TEST(Sampling, TopPIsOfWhatTopKLeaves) {
  // Of .55 and .33 the first has .62.
  EXPECT_EQ(draws({.top_k = 2, .top_p = .6}, 200)[2], 200);
  EXPECT_GT(draws({.top_p = .6}, 200)[1], 0);
}

TEST(Sampling, MinPLeavesWhatHasItsShareOfTheLikeliest) {
  // Shares of the likeliest: .22, .61, 1.
  EXPECT_EQ(draws({.min_p = 1}, 200)[2], 200);
  EXPECT_EQ(draws({.min_p = .62}, 200)[2], 200);
  const auto counts = draws({.min_p = .6}, 20'000);
  EXPECT_EQ(counts[0], 0);
  EXPECT_NEAR(counts[2] / 20'000., 1 / (1 + std::exp(-.5)), .015);
  EXPECT_GT(draws({.min_p = .22}, 500)[0], 0);
  EXPECT_EQ(draws({.min_p = 0}, 20'000), draws({}, 20'000));
  EXPECT_EQ(draws({.temperature = .1, .min_p = .6}, 200)[2], 200) << "after the temperature";
}

TEST(Sampling, TakesTheFirstOfTheLargestAtTemperatureZero) {
  Rng rng(1);
  EXPECT_EQ(sample_token(std::vector<double>{1, 3, 3}, {.temperature = 0}, rng), 1);
}

TEST(Sampling, DrawsNothingWhenThereIsNoChoice) {
  Rng rng(1);
  sample_token(kLogits, {.temperature = 0}, rng);
  sample_token(kLogits, {.top_k = 1}, rng);
  sample_token(kLogits, {.top_p = .1}, rng);
  sample_token(kLogits, {.min_p = 1}, rng);
  EXPECT_EQ(rng.state(), Rng(1).state());
}

TEST(Sampling, NeverTakesWhatIsImpossible) {
  Rng rng(1);
  const std::vector<double> logits{-infinity, 0, -infinity};
  for (int i = 0; i < 100; ++i) EXPECT_EQ(sample_token(logits, {.temperature = 5}, rng), 1);
}

TEST(Sampling, RefusesLogitsThatAreNone) {
  Rng rng(1);
  const auto refused = [&](const std::vector<double>& logits) {
    EXPECT_THROW(sample_token(logits, {}, rng), NonFinite);
  };
  refused({});
  refused({0, std::nan("")});
  refused({0, infinity});
  refused({-infinity, -infinity});
}

/// Says the id after the last one, of five; and which ids it was shown.
struct Counter {
  std::vector<std::vector<std::int64_t>> shown;
  Tensor operator()(const Tokens& ids) {
    shown.push_back(ids.to_vector());
    std::vector<double> logits(shown.back().size() * 5, 0);
    logits[logits.size() - 5 + static_cast<std::size_t>((shown.back().back() + 1) % 5)] = 9;
    return tensor(std::move(logits), {1, ids.dim(1), 5});
  }
};

TEST(Generate, FeedsBackWhatItChose) {
  Counter model;
  Rng rng(1);
  const Generated made =
      generate(std::ref(model), 8, std::vector<std::int64_t>{3}, 4, {.temperature = 0}, rng);
  EXPECT_EQ(made.ids, (std::vector<std::int64_t>{4, 0, 1, 2}));
  EXPECT_EQ(made.forgotten, 0);
  EXPECT_EQ(model.shown.back(), (std::vector<std::int64_t>{3, 4, 0, 1}));
}

/// A model whose choices depend on every token it sees.
Transformer stirred(bool causal) {
  Rng rng(3);
  Transformer model({.vocabulary = 6, .context = 7, .heads = 2, .d_model = 8, .causal = causal},
                    rng);
  for (const NamedTensor& parameter : parameters(model))
    for (float& element : Tensor(parameter.value).mutate<float>())
      element += static_cast<float>(.5 * rng.normal());
  return model;
}

TEST(Generate, WithACacheChoosesTheSameIds) {
  for (const bool causal : {true, false}) {
    const Transformer model = stirred(causal);
    const auto logits = [&](const Tokens& ids) { return model(ids); };
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      Rng pick(seed), a(seed), b(seed);
      std::vector<std::int64_t> prompt(1 + seed % 9);  // shorter, as long and longer than 7
      for (std::int64_t& id : prompt) id = pick.integer(6);
      const Generated whole = generate(logits, 7, prompt, 12, {}, a);
      const Generated cached = generate(model, prompt, 12, {}, b);
      EXPECT_EQ(cached.ids, whole.ids) << "seed " << seed;
      EXPECT_EQ(cached.forgotten, whole.forgotten) << "seed " << seed;
      EXPECT_EQ(a.state(), b.state());
    }
  }
}

TEST(Generate, ReadsOnlyWhatIsNewUntilTheContextIsFull) {
  const Transformer model = stirred(true);
  Recorder recorder(model);
  Rng rng(1);
  const auto weights_after = [&](std::int64_t count) {
    generate(model, std::vector<std::int64_t>{1, 2, 3}, count, {}, rng);
    return recorder.at("blocks.0.attention.weights").shape();
  };
  EXPECT_EQ(weights_after(1), (Shape{1, 2, 3, 3}));
  EXPECT_EQ(weights_after(2), (Shape{1, 2, 1, 4}));
  EXPECT_EQ(weights_after(5), (Shape{1, 2, 1, 7}));
  EXPECT_EQ(weights_after(6), (Shape{1, 2, 7, 7}));
}

TEST(Generate, RefusesWhatCannotBeContinued) {
  Counter model;
  Rng rng(1);
  const std::vector<std::int64_t> prompt{1};
  EXPECT_THROW(generate(std::ref(model), 8, {}, 1, {}, rng), ValueError);
  EXPECT_THROW(generate(std::ref(model), 8, prompt, -1, {}, rng), ValueError);
  EXPECT_THROW(generate(std::ref(model), 0, prompt, 1, {}, rng), ValueError);
  EXPECT_TRUE(generate(std::ref(model), 8, prompt, 0, {}, rng).ids.empty());
  EXPECT_TRUE(model.shown.empty());
}

}  // namespace
}  // namespace heed
