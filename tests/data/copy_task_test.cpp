#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heed/autograd/error.h>
#include <heed/data/data.h>

#include <cmath>
#include <set>

#include "support.h"

namespace heed {
namespace {

using testing::HasSubstr;

// What a row of the copy task must be, whoever drew it.
void expect_copies(const Task& task, const Batch& batch, std::size_t payload) {
  const auto inputs = rows(task, batch.inputs), targets = rows(task, batch.targets);
  ASSERT_EQ(inputs.size(), targets.size());
  std::string ignored;
  for (std::size_t i = 0; i < payload; ++i) ignored += "·";
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string letters = inputs[i].substr(0, payload);
    EXPECT_EQ(letters.find('|'), std::string::npos);
    EXPECT_EQ(inputs[i], letters + "|" + letters.substr(0, payload - 1));
    EXPECT_EQ(targets[i], ignored + letters);
  }
}

TEST(CopyTask, AsTheDesignHasIt) {
  const CopyTask task;
  EXPECT_EQ(task.vocabulary(), 17);
  EXPECT_EQ(task.context(), 30);
  EXPECT_EQ(task.held_out_rows(), 1000);
  EXPECT_EQ(task.decode(std::vector<std::int64_t>{0, 15, 16}), "ap|");
  EXPECT_EQ(task.encode("ap|"), (std::vector<std::int64_t>{0, 15, 16}));
}

TEST(CopyTask, RowsSayAgainWhatCameBeforeTheSeparator) {
  const CopyTask task;
  Rng rng(1);
  const Batch batch = task.sample(50, rng);
  EXPECT_EQ(batch.inputs.shape(), Shape({50, 30}));
  expect_copies(task, batch, 15);
  expect_copies(task, task.held_out(0, task.held_out_rows()), 15);
  EXPECT_FALSE(batch.hidden.defined());
  EXPECT_FALSE(batch.memory.defined());
}

TEST(CopyTask, SizesAreSettable) {
  const CopyTask task({.context = 8, .chosen = {{"alphabet", "40"}}});
  EXPECT_EQ(task.vocabulary(), 41);
  EXPECT_EQ(task.context(), 8);
  Rng rng(2);
  expect_copies(task, task.sample(50, rng), 4);
}

TEST(CopyTask, EveryLetterComesInEveryPlace) {
  const CopyTask task({.context = 6, .chosen = {{"alphabet", "5"}}});
  Rng rng(3);
  const Batch batch = task.sample(1000, rng);
  std::set<std::pair<std::size_t, std::int64_t>> seen;
  for (std::size_t i = 0; i < batch.inputs.data().size(); ++i)
    if (i % 6 < 3) seen.emplace(i % 6, batch.inputs.data()[i]);
  EXPECT_EQ(seen.size(), 15u);
}

TEST(CopyTask, TargetStandsInTheCellOfTheAlignment) {
  const CopyTask task;
  Rng rng(4);
  const Batch batch = task.sample(3, rng);
  for (std::int64_t row = 0; row < 3; ++row) {
    const auto cells = task.alignment(batch, row);
    ASSERT_EQ(cells.size(), 15u);
    EXPECT_EQ(cells.front(), (Cell{.query = 15, .key = 0}));
    EXPECT_EQ(cells.back(), (Cell{.query = 29, .key = 14}));
    for (const auto& [query, key] : cells) {
      EXPECT_EQ(batch.targets.data()[static_cast<std::size_t>(row * 30 + query)],
                batch.inputs.data()[static_cast<std::size_t>(row * 30 + key)]);
    }
  }
}

TEST(CopyTask, HeldOutRowsAreDistinctAndTheSameForTheSameSeed) {
  const CopyTask task, same, other({.seed = 1});
  const auto held_out = rows(task, task.held_out(0, 1000).inputs);
  EXPECT_EQ(std::set(held_out.begin(), held_out.end()).size(), 1000u);
  EXPECT_EQ(rows(same, same.held_out(0, 1000).inputs), held_out);
  EXPECT_NE(rows(other, other.held_out(0, 1000).inputs), held_out);
  EXPECT_EQ(rows(task, task.held_out(10, 3).inputs),
            std::vector(held_out.begin() + 10, held_out.begin() + 13));
}

// Of 16 payloads 8 are held out: by chance alone, training would meet them at once.
TEST(CopyTask, HeldOutRowsAreNeverTrainedOn) {
  const CopyTask task({.context = 8, .chosen = {{"alphabet", "2"}}});
  ASSERT_EQ(task.held_out_rows(), 8);
  const auto held_out = rows(task, task.held_out(0, 8).targets);
  Rng rng(5);
  const auto trained = rows(task, task.sample(1000, rng).targets);
  std::set<std::string> all(held_out.begin(), held_out.end());
  EXPECT_EQ(all.size(), 8u);
  const std::set<std::string> seen(trained.begin(), trained.end());
  EXPECT_EQ(seen.size(), 8u);
  all.insert(seen.begin(), seen.end());
  EXPECT_EQ(all.size(), 16u);
}

TEST(CopyTask, SmallestTaskStillHasBothParts) {
  const CopyTask task({.context = 2, .chosen = {{"alphabet", "2"}}});
  EXPECT_EQ(task.held_out_rows(), 1);
  Rng rng(6);
  EXPECT_NE(rows(task, task.sample(1, rng).inputs), rows(task, task.held_out(0, 1).inputs));
}

TEST(CopyTask, SampleDependsOnTheGeneratorAlone) {
  const CopyTask task, same;
  Rng rng(7), again(7), other(8);
  const auto first = task.sample(32, rng).inputs.to_vector();
  EXPECT_EQ(same.sample(32, again).inputs.to_vector(), first);
  EXPECT_NE(task.sample(32, other).inputs.to_vector(), first);
  EXPECT_EQ(rng.state(), again.state());
  EXPECT_NE(task.sample(32, rng).inputs.to_vector(), first);
}

TEST(CopyTask, Baselines) {
  const auto baselines = CopyTask().baselines();
  ASSERT_EQ(baselines.size(), 2u);
  EXPECT_NEAR(baselines[0].loss, std::log(17), 1e-12);
  EXPECT_NEAR(baselines[1].loss, std::log(16), 1e-12);
}

TEST(CopyTask, OptionsOutOfRangeAreNamed) {
  for (const std::int64_t context : {-2, 0, 1, 31}) {
    EXPECT_THAT(message_of<ValueError>([&] { CopyTask({.context = context}); }),
                HasSubstr("context = " + std::to_string(context)));
  }
  for (const std::int64_t alphabet : {-1, 0, 1, 63}) {
    EXPECT_THAT(message_of<ValueError>([&] {
                  CopyTask({.chosen = {{"alphabet", std::to_string(alphabet)}}});
                }),
                HasSubstr("alphabet = " + std::to_string(alphabet)));
  }
}

TEST(CopyTask, RowsThatAreNotThere) {
  const CopyTask task;
  Rng rng(9);
  EXPECT_THROW(task.sample(0, rng), ValueError);
  EXPECT_THROW(task.sample(-1, rng), ValueError);
  EXPECT_THAT(message_of<IndexError>([&] { task.held_out(990, 20); }),
              HasSubstr("20 rows from row 990 on, of 1000"));
  EXPECT_THROW(task.held_out(-1, 1), IndexError);
  EXPECT_THROW(task.held_out(1000, 1), IndexError);
}

}  // namespace
}  // namespace heed
