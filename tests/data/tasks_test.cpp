// What holds for every task that draws its rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heed/autograd/error.h>
#include <heed/data/data.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "support.h"

namespace heed {
namespace {

using testing::HasSubstr;

class EveryTask : public testing::TestWithParam<std::string> {
 protected:
  const std::unique_ptr<Task> task_ = make_task(GetParam());
};

std::vector<std::string> drawn_tasks() {
  std::vector<std::string> names;
  for (const TaskInfo& info : tasks())
    if (!info.takes_file) names.push_back(info.name);
  return names;
}

std::string name_of(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::erase(name, '-');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Tasks, EveryTask, testing::ValuesIn(drawn_tasks()), name_of);

TEST_P(EveryTask, RowsAreOfItsVocabularyAndAskForSomething) {
  Rng rng(1);
  const auto check = [&](const Batch& batch, std::int64_t rows) {
    EXPECT_EQ(batch.inputs.shape(), batch.targets.shape());
    EXPECT_EQ(batch.inputs.dim(0), rows);
    EXPECT_LE(batch.inputs.dim(1), task_->context());
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto targets = row_of(batch.targets, row);
      EXPECT_LT(std::ranges::count(targets, kIgnore), std::ssize(targets));
    }
    task_->decode(batch.inputs.data());  // throws for an id outside
    task_->decode(batch.targets.data());
  };
  check(task_->sample(20, rng), 20);
  check(task_->held_out(0, task_->held_out_rows()), task_->held_out_rows());
  EXPECT_EQ(task_->held_out(0, 1).inputs.dim(1), task_->context());
  EXPECT_EQ(task_->context(), find_task(GetParam()).recipe.context);
}

TEST_P(EveryTask, SampleDependsOnTheGeneratorAlone) {
  Rng rng(2), again(2), other(3);
  const auto first = task_->sample(16, rng).inputs.to_vector();
  EXPECT_EQ(make_task(GetParam())->sample(16, again).inputs.to_vector(), first);
  EXPECT_EQ(rng.state(), again.state());
  EXPECT_NE(task_->sample(16, other).inputs.to_vector(), first);
  EXPECT_THROW(task_->sample(0, rng), ValueError);
  EXPECT_THROW(task_->sample(-1, rng), ValueError);
}

TEST_P(EveryTask, HeldOutRowsAreDistinctTheSameAndNeverTrainedOn) {
  const Batch held_out = task_->held_out(0, task_->held_out_rows());
  EXPECT_EQ(make_task(GetParam())->held_out(0, 5).inputs.to_vector(),
            task_->held_out(0, 5).inputs.to_vector());
  EXPECT_NE(make_task(GetParam(), {.seed = 1})->held_out(0, 5).inputs.to_vector(),
            task_->held_out(0, 5).inputs.to_vector());
  Rng rng(4);
  const Batch trained = task_->sample(3000, rng);
  const auto width = static_cast<std::size_t>(trained.inputs.dim(1));
  std::set<std::vector<std::int64_t>> known;
  const auto row = [&](const Batch& batch, std::int64_t i) {
    const auto all = static_cast<std::size_t>(batch.inputs.dim(1));
    const auto ids = batch.inputs.data().subspan(static_cast<std::size_t>(i) * all, width);
    return std::vector<std::int64_t>(ids.begin(), ids.end());
  };
  for (std::int64_t i = 0; i < held_out.inputs.dim(0); ++i) known.insert(row(held_out, i));
  EXPECT_EQ(std::ssize(known), task_->held_out_rows());
  for (std::int64_t i = 0; i < trained.inputs.dim(0); ++i)
    ASSERT_FALSE(known.contains(row(trained, i)));
  EXPECT_THROW(task_->held_out(task_->held_out_rows(), 1), IndexError);
  EXPECT_THROW(task_->held_out(0, 0), IndexError);
}

// Where a task names cells, the key is where the target can be read (for markov and the like, what
// says which it is).
TEST_P(EveryTask, CellsAreInsideAndLookBack) {
  const std::set<std::string> known = {"copy",    "reverse",  "sort",           "addition",
                                       "trigger", "recall",   "selective-copy", "induction",
                                       "dyck",    "agreement"};
  const Batch batch = task_->held_out(0, 20);
  std::size_t cells = 0;
  for (std::int64_t i = 0; i < 20; ++i)
    for (const Cell& cell : task_->alignment(batch, i)) {
      EXPECT_GE(cell.key, 0);
      EXPECT_LE(cell.key, cell.query);
      EXPECT_LT(cell.query, task_->context());
      ++cells;
    }
  EXPECT_EQ(cells > 0, known.contains(GetParam()));
}

// A prompt that ends halfway through the answer: what is asked for after it, side by side.
TEST_P(EveryTask, AnswersEndWithWhatIsAskedFor) {
  const TaskInfo& info = find_task(GetParam());
  if (info.open_ended || info.labels) GTEST_SKIP();
  const Batch batch = task_->held_out(0, 20);
  for (std::int64_t i = 0; i < 20; ++i) {
    const auto inputs = row_of(batch.inputs, i), targets = row_of(batch.targets, i);
    const auto first = std::ranges::find_if(targets, [](auto id) { return id != kIgnore; });
    const auto asked = std::find(first, targets.end(), kIgnore) - first, half = asked / 2;
    const auto prompt = inputs.first(static_cast<std::size_t>(first - targets.begin() + half + 1));
    const std::int64_t to_the_end = task_->context() + 1 - std::ssize(prompt);
    EXPECT_EQ(info.answer ? info.answer(prompt) : to_the_end, asked - half) << "row " << i;
  }
}

TEST_P(EveryTask, BaselinesFallFromTheUniformOne) {
  const auto baselines = task_->baselines();
  ASSERT_FALSE(baselines.empty());
  EXPECT_EQ(baselines[0].name, "uniform");
  EXPECT_NEAR(baselines[0].loss, std::log(static_cast<double>(task_->vocabulary())), 1e-12);
  for (const Baseline& baseline : baselines) {
    EXPECT_GE(baseline.loss, 0) << baseline.name;
    EXPECT_LE(baseline.loss, baselines[0].loss + 1e-12) << baseline.name;
  }
}

TEST_P(EveryTask, TokenizerComesBackFromItsSavedString) {
  const auto loaded = load_tokenizer(task_->tokenizer().save());
  EXPECT_EQ(loaded->save(), task_->tokenizer().save());
  const Batch batch = task_->held_out(0, 1);
  EXPECT_EQ(loaded->encode(task_->decode(batch.inputs.data())), batch.inputs.to_vector());
}

TEST_P(EveryTask, FiguresAreInTheirRangeAndAlwaysTheSame) {
  const Batch batch = task_->held_out(0, 8);
  Rng rng(5);
  const Answers answers{.logits =
                            normal({8, task_->context(), task_->vocabulary()}, rng, 0, 1, f32)};
  const auto figures = task_->figures(batch, answers);
  std::vector<std::string> names, again;
  for (const Figure& figure : figures) {
    EXPECT_TRUE(figure.count == 0 || std::isfinite(figure.value())) << figure.name;
    names.push_back(figure.name);
  }
  const Answers first{.logits = normal({1, task_->context(), task_->vocabulary()}, rng, 0, 1, f32)};
  for (const Figure& figure : task_->figures(task_->held_out(0, 1), first))
    again.push_back(figure.name);
  EXPECT_EQ(names, again);
}

}  // namespace
}  // namespace heed
