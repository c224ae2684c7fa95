#include <gmock/gmock.h>
#include <heed/autograd/autograd.h>
#include <heed/data/data.h>
#include <heed/train/train.h>

#include "support.h"

namespace heed {
namespace {

TEST(FixedBatches, AreTheFirstOnesOfATraining) {
  const auto copy = make_task("copy", {.context = 6, .chosen = {{"alphabet", "6"}}});
  const FixedBatches fixed(*copy, 2, 3, Rng(5));
  Rng data = Rng(5).stream("data"), rng(1);
  const Batch first = copy->sample(3, data), second = copy->sample(3, data);
  std::vector<int> seen(2);
  for (int i = 0; i < 20; ++i) {
    const Batch batch = fixed.sample(3, rng);
    const bool is_first = batch.inputs.to_vector() == first.inputs.to_vector();
    const Batch& drawn = is_first ? first : second;
    EXPECT_EQ(batch.inputs.to_vector(), drawn.inputs.to_vector());
    EXPECT_EQ(batch.targets.to_vector(), drawn.targets.to_vector());
    ++seen[is_first];
  }
  EXPECT_THAT(seen, testing::Each(testing::Gt(0)));

  EXPECT_EQ(fixed.held_out_rows(), 6);
  const Batch across = fixed.held_out(2, 2);
  std::vector<std::int64_t> rows = first.inputs.to_vector();
  rows.erase(rows.begin(), rows.end() - 6);
  rows.insert(rows.end(), second.inputs.data().begin(), second.inputs.data().begin() + 6);
  EXPECT_EQ(across.inputs.to_vector(), rows);
  EXPECT_THROW(fixed.held_out(5, 2), IndexError);
  EXPECT_THROW(FixedBatches(*copy, 0, 3, Rng(5)), ValueError);
  EXPECT_EQ(fixed.most_accurate(), 1) << "what is asked stands in the row";
}

/// Two rows of padded inputs, at first always the same.
class TwoRows final : public Task {
 public:
  std::int64_t context() const override { return 2; }
  const Tokenizer& tokenizer() const override { return letters_; }
  Batch sample(std::int64_t, Rng&) const override {
    return drawn_++ == 0 || !later_.inputs.defined() ? batch_ : later_;
  }
  std::int64_t held_out_rows() const override { return 2; }
  Batch held_out(std::int64_t, std::int64_t) const override { return batch_; }
  std::vector<Figure> figures(const Batch& batch, const Answers&) const override {
    return {{"first_ids", static_cast<double>(batch.inputs.data()[0]), 1}};
  }

  Batch batch_{.inputs = tokens({0, 1, 0, 1}, {2, 2}),
               .targets = tokens({1, 2, 1, 0}, {2, 2}),
               .hidden = mask({false, true, false, false}, {2, 2})};
  Batch later_ = {};  // all but the first, if there is one

 private:
  mutable int drawn_ = 0;
  CharacterTokenizer letters_ = CharacterTokenizer::of("abc");
};

TEST(FixedBatches, KnowHowMuchCanBeKnown) {
  TwoRows task;
  EXPECT_EQ(FixedBatches(task, 1, 2, Rng(1)).most_accurate(), .75) << "01 goes on with 2 and 0";
  EXPECT_EQ(FixedBatches(task, 3, 2, Rng(1)).most_accurate(), .75);
  task.batch_.targets = tokens({1, 2, 1, 2}, {2, 2});
  EXPECT_EQ(FixedBatches(task, 1, 2, Rng(1)).most_accurate(), 1);
  task.batch_.targets = tokens({1, 2, kIgnore, 0}, {2, 2});
  EXPECT_EQ(FixedBatches(task, 1, 2, Rng(1)).most_accurate(), 2. / 3);
  task.batch_.memory = tokens({4, 5}, {2, 1});
  EXPECT_EQ(FixedBatches(task, 1, 2, Rng(1)).most_accurate(), 1) << "the memories tell them apart";
  task.batch_.targets = tokens({kIgnore, kIgnore, kIgnore, kIgnore}, {2, 2});
  EXPECT_EQ(FixedBatches(task, 1, 2, Rng(1)).most_accurate(), 1);
}

TEST(FixedBatches, KeepMaskAndMemory) {
  TwoRows task;
  task.batch_.memory = tokens({4, 5}, {2, 1});
  const FixedBatches fixed(task, 2, 2, Rng(1));
  const Batch rows = fixed.held_out(1, 2);
  EXPECT_EQ(rows.hidden.to_vector(), (std::vector<bool>{false, false, false, true}));
  EXPECT_EQ(rows.memory.to_vector(), (std::vector<std::int64_t>{5, 4}));
}

TEST(FixedBatches, ABatchWithoutPaddingHidesNothingAmongPaddedOnes) {
  const std::vector<bool> padded{false, true, false, false}, none(4);
  for (const bool padded_first : {true, false}) {
    TwoRows task;
    task.later_ = task.batch_;
    (padded_first ? task.later_ : task.batch_).hidden = {};
    const FixedBatches fixed(task, 2, 2, Rng(1));
    EXPECT_EQ(fixed.held_out(0, 2).hidden.to_vector(), padded_first ? padded : none);
    EXPECT_EQ(fixed.held_out(2, 2).hidden.to_vector(), padded_first ? none : padded);
  }
  TwoRows task;  // what is padded is the memory, if there is one
  task.batch_.memory = tokens({4, 5, 6, 4, 5, 6}, {2, 3});
  task.later_ = task.batch_;
  task.batch_.hidden = {};
  task.later_.hidden = mask({false, false, true, false, true, true}, {2, 3});
  EXPECT_EQ(FixedBatches(task, 2, 2, Rng(1)).held_out(1, 2).hidden.to_vector(),
            (std::vector<bool>{false, false, false, false, false, true}));
}

TEST(FixedBatches, SayWhatDiffersBetweenBatches) {
  const auto refused = [](auto change, const std::string& reason) {
    TwoRows task;
    task.later_ = task.batch_;
    change(task.later_);
    EXPECT_THAT(message_of<ValueError>([&] { FixedBatches(task, 3, 2, Rng(1)); }),
                testing::AllOf(testing::HasSubstr(reason), testing::HasSubstr("overfit = 1")));
    EXPECT_NO_THROW(FixedBatches(task, 1, 2, Rng(1)));
  };
  refused(
      [](Batch& b) {
        b.inputs = b.targets = tokens({0, 1, 2, 0, 1, 2}, {2, 3});
      },
      "batch 2 has inputs (2, 3), batch 1 (2, 2)");
  refused(
      [](Batch& b) {
        b.inputs = b.targets = tokens({0, 1}, {1, 2});
      },
      "batch 2 has inputs (1, 2), batch 1 (2, 2)");
  refused(
      [](Batch& b) {
        b.memory = tokens({4, 5}, {2, 1});
      },
      "batch 2 has memory (2, 1), batch 1 none");
}

TEST(FixedBatches, HaveTheFiguresOfTheirTask) {
  const TwoRows task;
  const FixedBatches fixed(task, 1, 2, Rng(1));
  const std::vector<Figure> found = fixed.figures(fixed.held_out(1, 1), {});
  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found[0].name, "first_ids");
}

}  // namespace
}  // namespace heed
