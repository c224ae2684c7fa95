// Training on several threads: the bits are those of one.
#include <gtest/gtest.h>
#include <heed/autograd/autograd.h>
#include <heed/layers/layers.h>
#include <heed/train/train.h>

#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#include "../autograd/cpu_time.h"

namespace heed {
namespace {

/// Every number that a training makes.
struct Outcome {
  std::vector<double> losses;
  std::vector<std::vector<double>> parameters;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

/// A transformer whose every kind of kernel has more than one chunk to do: a batch has 1024 tokens,
/// so 131,072 elements between the layers.
Outcome train(std::uint64_t seed) {
  constexpr std::int64_t kBatch = 16, kTime = 64, kVocabulary = 40;
  const Rng rng(seed);
  Rng init = rng.stream("init"), data = rng.stream("data"), drops = rng.stream("dropout");
  Transformer model({.vocabulary = kVocabulary,
                     .context = kTime,
                     .layers = 1,
                     .heads = 4,
                     .d_model = 128,
                     .dropout = 0.1},
                    init);
  AdamW optimizer(parameters(model), {.lr = 1e-2, .weight_decay = 0.1});
  Outcome outcome;
  for (int step = 0; step < 3; ++step) {
    std::vector<std::int64_t> ids, targets;
    for (std::int64_t i = 0; i < kBatch * kTime; ++i) {
      ids.push_back(data.integer(kVocabulary));
      targets.push_back(i % 11 == 0 ? kIgnore : data.integer(kVocabulary));
    }
    const Training scope(drops);
    const Tensor logits = model(tokens(ids, {kBatch, kTime}));
    const Tensor loss = cross_entropy(logits, tokens(targets, {kBatch, kTime}));
    optimizer.zero_grad();
    backward(loss);
    clip_grad_norm(parameters(model), 1);
    optimizer.step();
    outcome.losses.push_back(loss.item());
  }
  for (const NamedTensor& parameter : parameters(model))
    outcome.parameters.push_back(parameter.value.to_vector());
  return outcome;
}

class TrainingOnThreads : public testing::Test {
 protected:
  void TearDown() override { set_threads(before_); }

 private:
  const int before_ = threads();
};

TEST_F(TrainingOnThreads, GivesTheBitsOfOneThread) {
  set_threads(1);
  const Outcome alone = train(1);
  EXPECT_NE(alone, train(2));
  for (const int n : {2, 3, 4}) {
    set_threads(n);
    const double before = cpu_seconds_of_others();
    EXPECT_EQ(alone, train(1)) << n << " threads";
    EXPECT_GT(cpu_seconds_of_others() - before, 1e-3) << "nothing was shared out";
  }
}

/// Of 100 steps of a model whose attention has more than one chunk each way, with or without
/// somebody who looks at its weights.
std::vector<double> losses(bool record) {
  constexpr std::int64_t kBatch = 2, kTime = 96, kVocabulary = 10;
  const Rng rng(3);
  Rng init = rng.stream("init"), data = rng.stream("data"), drops = rng.stream("dropout");
  Transformer model({.vocabulary = kVocabulary,
                     .context = kTime,
                     .layers = 1,
                     .heads = 2,
                     .d_model = 32,
                     .dropout = 0.1},
                    init);
  std::optional<Recorder> recorder;
  if (record) recorder.emplace(model);
  AdamW optimizer(parameters(model), {.lr = 1e-2});
  std::vector<double> found;
  for (int step = 0; step < 100; ++step) {
    std::vector<std::int64_t> ids;
    for (std::int64_t i = 0; i < kBatch * kTime; ++i) ids.push_back(data.integer(kVocabulary));
    const Tokens batch = tokens(ids, {kBatch, kTime});
    const Training scope(drops);
    const Tensor loss = cross_entropy(model(batch), batch);
    optimizer.zero_grad();
    backward(loss);
    optimizer.step();
    found.push_back(loss.item());
  }
  EXPECT_TRUE(!record || recorder->at("blocks.0.attention.weights").defined());
  EXPECT_LT(found.back(), found.front() / 2);
  return found;
}

TEST_F(TrainingOnThreads, AHundredLossesAreTheSameOnAnyNumberAndWithARecorder) {
  set_threads(1);
  const std::vector<double> alone = losses(false);
  for (const int n : {1, 2, 3}) {
    set_threads(n);
    for (const bool record : {false, true})
      EXPECT_EQ(alone, losses(record)) << n << " threads" << (record ? ", recorded" : "");
  }
}

TEST_F(TrainingOnThreads, TwoTrainingsAtOnceGiveTheBitsOfEachAlone) {
  set_threads(1);
  const Outcome first = train(1), second = train(2);
  for (const int n : {1, 2, 4}) {
    set_threads(n);
    Outcome beside;
    std::thread other([&] { beside = train(2); });
    const Outcome here = train(1);
    other.join();
    EXPECT_EQ(here, first) << n << " threads";
    EXPECT_EQ(beside, second) << n << " threads";
  }
}

}  // namespace
}  // namespace heed
