#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heed/autograd/error.h>
#include <heed/data/data.h>

#include <cmath>
#include <set>

#include "support.h"

namespace heed {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::int64_t kContext = 3;
const TaskOptions kShort{.context = kContext};

// 54 letters to train on, and six others held out: with context 3, as many starts as in D05.
std::string two_alphabets() {
  std::string text;
  for (int i = 0; i < 54; ++i) text += static_cast<char>('A' + i % 26);
  return text + "abcdef";
}

TEST(TextTask, D05TargetsAreTheNextCharactersAndEveryStartComes) {
  const std::string training = "abcdefghijklmnopqrstuvwxyz0123456789";
  const TextTask task(training + "!?=+", kShort);
  Rng rng(1);
  const Batch batch = task.sample(2000, rng);
  const auto inputs = rows(task, batch.inputs), targets = rows(task, batch.targets);
  std::set<std::size_t> starts;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::size_t start = training.find(inputs[i]);
    ASSERT_NE(start, std::string::npos) << inputs[i];
    EXPECT_EQ(targets[i], training.substr(start + 1, kContext));
    starts.insert(start);
  }
  EXPECT_EQ(starts.size(), training.size() - kContext);
  EXPECT_EQ(*starts.rbegin(), training.size() - kContext - 1);
}

TEST(TextTask, D06ValidationIsNeverTrainedOn) {
  const TextTask task(two_alphabets(), kShort);
  Rng rng(2);
  const Batch training = task.sample(2000, rng);
  for (const Tokens& part : {training.inputs, training.targets}) {
    for (const std::string& row : rows(task, part))
      EXPECT_EQ(row.find_first_of("abcdef"), std::string::npos) << row;
  }
  const Batch held_out = task.held_out(0, task.held_out_rows());
  EXPECT_THAT(rows(task, held_out.inputs), testing::ElementsAre("abc", "cde"));
  EXPECT_THAT(rows(task, held_out.targets), testing::ElementsAre("bcd", "·ef"));
}

TEST(TextTask, VocabularyIsOfTheWholeText) {
  const TextTask task(two_alphabets(), kShort);
  EXPECT_EQ(task.vocabulary(), 26 + 6);
  EXPECT_EQ(task.context(), kContext);
  EXPECT_EQ(task.decode(task.encode("fAaZ")), "fAaZ");
}

TEST(TextTask, D04TheShortPartIsNamed) {
  const auto message = [](std::size_t length) {
    return message_of<FileError>(
        [&] { TextTask(std::string(length, 'a'), {.file = "short.txt", .context = 8}); });
  };
  EXPECT_THAT(message(1), AllOf(HasSubstr("short.txt"), HasSubstr("training"), HasSubstr("has 0")));
  EXPECT_THAT(message(2), AllOf(HasSubstr("training"), HasSubstr("has 1 ")));
  EXPECT_THAT(message(9), AllOf(HasSubstr("training"), HasSubstr("has 8 ")));
  EXPECT_THAT(message(10), AllOf(HasSubstr("validation"), HasSubstr("has 1 ")));
  EXPECT_THAT(message(80), AllOf(HasSubstr("validation"), HasSubstr("has 8 ")));
  EXPECT_EQ(TextTask(std::string(81, 'a'), {.context = 8}).held_out_rows(), 1);
}

TEST(TextTask, CodePointsAreCountedAndNotBytes) {
  std::string text;
  for (int i = 0; i < 40; ++i) text += "é";
  const TextTask task(text, kShort);
  EXPECT_EQ(task.vocabulary(), 1);
  EXPECT_EQ(task.held_out_rows(), 1);
}

TEST(TextTask, D06PairsAreLearntFromTheTrainingPartAlone) {
  std::string text;
  for (int i = 0; i < 45; ++i) text += "ab";
  const TextTask task(text + "cdcdcdcdcd",
                      {.context = 2, .chosen = {{"tokenizer", "bpe"}, {"vocabulary", "300"}}});
  EXPECT_THAT(task.encode("cd"), testing::ElementsAre('c', 'd'));
  EXPECT_LT(task.encode("abab").size(), 4u);
}

TEST(TextTask, D04TokensAreCountedWhateverTheyAre) {
  const auto held_out = [](const std::string& text, const char* kind) {
    return TextTask(text, {.context = 4, .chosen = {{"tokenizer", kind}}}).held_out_rows();
  };
  std::string accents;
  for (int i = 0; i < 50; ++i) accents += "é";
  EXPECT_EQ(held_out(accents, "characters"), 1);
  EXPECT_EQ(held_out(accents, "bytes"), 3) << "10 bytes, 9 targets";
  EXPECT_THAT(message_of<FileError>([&] { held_out(accents, "bpe"); }),
              AllOf(HasSubstr("validation"), HasSubstr("has 2 ")));
}

TEST(TextTask, SampleDependsOnTheGeneratorAlone) {
  const TextTask task(two_alphabets(), kShort), same(two_alphabets(), kShort);
  Rng rng(3), again(3), other(4);
  const auto first = task.sample(32, rng).inputs.to_vector();
  EXPECT_EQ(same.sample(32, again).inputs.to_vector(), first);
  EXPECT_NE(task.sample(32, other).inputs.to_vector(), first);
  EXPECT_EQ(rng.state(), again.state());
}

TEST(TextTask, UnigramBaselineIsTheEntropyOfTheHeldOutTargets) {
  // Held out: xaab; its targets aab.
  const TextTask task(std::string(36, 'x') + "xaab", kShort);
  const auto baselines = task.baselines();
  ASSERT_EQ(baselines.size(), 2u);
  EXPECT_EQ(baselines[0].name, "uniform");
  EXPECT_NEAR(baselines[0].loss, std::log(3), 1e-12);
  EXPECT_EQ(baselines[1].name, "unigram");
  EXPECT_NEAR(baselines[1].loss, -(2 * std::log(2. / 3) + std::log(1. / 3)) / 3, 1e-12);
}

TEST(TextTask, NobodyKnowsTheCells) {
  const TextTask task(two_alphabets(), kShort);
  EXPECT_TRUE(task.alignment(task.held_out(0, 1), 0).empty());
}

TEST(TextTask, RowsThatAreNotHeldOut) {
  const TextTask task(two_alphabets(), kShort);
  EXPECT_THROW(task.held_out(0, 3), IndexError);
  EXPECT_THROW(task.held_out(2, 1), IndexError);
  EXPECT_THROW(task.held_out(-1, 1), IndexError);
  EXPECT_THROW(task.held_out(0, 0), IndexError);
  EXPECT_THROW(task.held_out(1, INT64_MAX), IndexError);
}

TEST(TextTask, RefusesBytesThatAreNoText) {
  EXPECT_THROW(TextTask("\xff\xfe" + std::string(100, 'a'), kShort), FileError);
  EXPECT_THROW(TextTask("", kShort), FileError);
  EXPECT_THROW(TextTask(two_alphabets(), {.context = 0}), ValueError);
}

}  // namespace
}  // namespace heed
