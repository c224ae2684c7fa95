// What a row of each task must be, whoever drew it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heed/autograd/error.h>
#include <heed/autograd/ops/arithmetic.h>
#include <heed/autograd/ops/index.h>
#include <heed/data/data.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "support.h"

namespace heed {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string refused(std::string_view task, const TaskOptions& options) {
  return message_of<ValueError>([&] { make_task(task, options); });
}

/// Drawn rows, and then those held out, with inputs and targets side by side.
std::vector<std::pair<std::string, std::string>> all_rows(const Task& task) {
  Rng rng(1);
  std::vector<std::pair<std::string, std::string>> all;
  for (const Batch& batch : {task.sample(100, rng), task.held_out(0, task.held_out_rows())}) {
    const auto inputs = rows(task, batch.inputs), targets = rows(task, batch.targets);
    for (std::size_t i = 0; i < inputs.size(); ++i) all.emplace_back(inputs[i], targets[i]);
  }
  return all;
}

std::string dots(std::size_t count) {
  std::string dots;
  while (count-- > 0) dots += "·";
  return dots;
}

/// The cells name the place of the target itself.
void expect_targets_in_cells(const Task& task, std::int64_t cells_in_a_row) {
  const Batch batch = task.held_out(0, 20);
  const auto width = static_cast<std::size_t>(task.context());
  for (std::int64_t row = 0; row < 20; ++row) {
    const auto first = static_cast<std::size_t>(row) * width;
    const auto cells = task.alignment(batch, row);
    EXPECT_EQ(std::ssize(cells), cells_in_a_row);
    for (const auto& [query, key] : cells)
      EXPECT_EQ(batch.targets.data()[first + static_cast<std::size_t>(query)],
                batch.inputs.data()[first + static_cast<std::size_t>(key)]);
  }
}

TEST(Reverse, SaysTheLettersBackwards) {
  const auto task = make_task("reverse");
  EXPECT_EQ(task->vocabulary(), 17);
  for (const auto& [inputs, targets] : all_rows(*task)) {
    const std::string letters = inputs.substr(0, 15);
    const std::string backwards(letters.rbegin(), letters.rend());
    EXPECT_EQ(inputs, letters + "|" + backwards.substr(0, 14));
    EXPECT_EQ(targets, dots(15) + backwards);
  }
  expect_targets_in_cells(*task, 15);
  EXPECT_THAT(refused("reverse", {.context = 7}), HasSubstr("reverse: context = 7"));
}

TEST(Sort, SaysTheDigitsInOrder) {
  const auto task = make_task("sort");
  EXPECT_EQ(task->vocabulary(), 3);
  EXPECT_EQ(task->held_out_rows(), 182) << "a quarter of 729";
  for (const auto& [inputs, targets] : all_rows(*task)) {
    std::string digits = inputs.substr(0, 6);
    std::ranges::sort(digits);
    EXPECT_EQ(inputs.substr(6), digits.substr(0, 5));
    EXPECT_EQ(targets, dots(5) + digits);
  }
  expect_targets_in_cells(*task, 6);
  EXPECT_THAT(refused("sort", {.context = 10}), HasSubstr("sort: context = 10: it must be odd"));
  EXPECT_THAT(refused("sort", {.context = 1}), HasSubstr("context = 1"));
}

// Of 6 digits among 10, by chance 7 rows in 100 have at most three different ones.
TEST(Sort, DrawsManyRepeats) {
  const auto task = make_task("sort", {.chosen = {{"digits", "10"}}});
  Rng rng(2);
  std::size_t rich = 0;
  for (const std::string& row : rows(*task, task->sample(1000, rng).inputs)) {
    const std::string digits = row.substr(0, 6);
    rich += std::set(digits.begin(), digits.end()).size() <= 3;
  }
  EXPECT_GT(rich, 450u);
  EXPECT_LT(rich, 650u);
}

TEST(Addition, IsRightInEitherOrder) {
  for (const std::string order : {"reversed", "plain"}) {
    for (const std::size_t digits : {1u, 2u, 3u}) {
      const auto task = make_task(
          "addition", {.context = std::int64_t(3 * digits), .chosen = {{"order", order}}});
      for (const auto& [inputs, targets] : all_rows(*task)) {
        std::string sum = inputs.substr(2 * digits) + targets.back();
        EXPECT_EQ(targets, dots(2 * digits - 1) + sum);
        if (order == "reversed") std::ranges::reverse(sum);
        EXPECT_EQ(std::stoi(sum),
                  std::stoi(inputs.substr(0, digits)) + std::stoi(inputs.substr(digits, digits)));
      }
    }
  }
  EXPECT_EQ(make_task("addition")->held_out_rows(), 500);
  EXPECT_EQ(make_task("addition", {.context = 3})->held_out_rows(), 20);
  EXPECT_THAT(refused("addition", {.context = 7}), HasSubstr("addition: context = 7"));
  EXPECT_THAT(refused("addition", {.context = 12}), HasSubstr("context = 12"));
}

TEST(Addition, LooksAtTheSameDigitOfTheFirstNumber) {
  const auto cells = [](std::string order) {
    const auto task = make_task("addition", {.chosen = {{"order", order}}});
    return task->alignment(task->held_out(0, 1), 0);
  };
  EXPECT_THAT(cells("reversed"), ElementsAre(Cell{3, 1}, Cell{4, 0}));
  EXPECT_THAT(cells("plain"), ElementsAre(Cell{4, 0}, Cell{5, 1}));
}

TEST(Recall, AsksForWhatWasGiven) {
  const auto task = make_task("recall");
  EXPECT_EQ(task->vocabulary(), 256);
  for (const auto& [inputs, targets] : all_rows(*task)) {
    const auto given = split_words(inputs), asked = split_words(targets);
    ASSERT_EQ(given.size(), 64u);
    std::map<std::string, std::string> pairs;
    for (std::size_t i = 0; i < 8; i += 2) pairs[given[i]] = given[i + 1];
    EXPECT_EQ(pairs.size(), 4u);
    std::set<std::string> seen;
    for (std::size_t t = 8; t < 64; ++t) {
      EXPECT_EQ(pairs.contains(given[t]), asked[t] != "·") << "noise has no key that is asked for";
      if (asked[t] == "·") continue;
      EXPECT_EQ(asked[t], pairs.at(given[t]));
      seen.insert(given[t]);
    }
    EXPECT_EQ(seen.size(), 4u);
  }
  expect_targets_in_cells(*task, 4);
  EXPECT_THAT(refused("recall", {.context = 15}), HasSubstr("recall: context = 15"));
  EXPECT_THAT(refused("recall", {.chosen = {{"vocabulary", "8"}}}), HasSubstr("vocabulary = 8"));
  EXPECT_THAT(refused("recall", {.chosen = {{"vocabulary", "255"}}}),
              HasSubstr("recall: vocabulary = 255: it must be even"));
}

// 2 keys and 2 values make 4 pairs.
TEST(Recall, HoldsOutHalfOfTheFewRowsThatThereAre) {
  const auto held_out = [](std::int64_t context, std::string pairs, std::string vocabulary) {
    return make_task("recall",
                     {.context = context, .chosen = {{"pairs", pairs}, {"vocabulary", vocabulary}}})
        ->held_out_rows();
  };
  EXPECT_EQ(held_out(4, "1", "4"), 2);
  EXPECT_EQ(held_out(8, "2", "6"), 18) << "3 x 2 keys with as many values";
  EXPECT_EQ(held_out(64, "4", "256"), 1000);
}

TEST(SelectiveCopy, SaysWhatIsNotNoise) {
  const auto task = make_task("selective-copy");
  std::set<std::size_t> places;
  for (const auto& [inputs, targets] : all_rows(*task)) {
    const std::string noisy = inputs.substr(0, 32);
    std::string letters = noisy;
    std::erase(letters, '.');
    EXPECT_EQ(letters.size(), 8u);
    EXPECT_EQ(inputs, noisy + "|" + letters.substr(0, 7));
    EXPECT_EQ(targets, dots(32) + letters);
    places.insert(noisy.find_first_not_of('.'));
  }
  EXPECT_GT(places.size(), 5u);
  expect_targets_in_cells(*task, 8);
  EXPECT_THAT(refused("selective-copy", {.context = 15}),
              HasSubstr("selective-copy: context = 15"));
}

TEST(Parity, SaysWhetherTheOnesAreOdd) {
  const auto task = make_task("parity");
  for (const auto& [inputs, targets] : all_rows(*task)) {
    std::string odd;
    for (std::size_t t = 0; t < 16; ++t)
      odd +=
          std::count(inputs.begin(), inputs.begin() + std::ptrdiff_t(t) + 1, '1') % 2 ? '1' : '0';
    EXPECT_EQ(targets, odd + dots(inputs.size() - 16));
  }
  EXPECT_THAT(refused("parity", {.context = 15}), HasSubstr("parity: context = 15"));
}

TEST(Parity, MeasuresTheAnswersBeyond) {
  const auto task = make_task("parity", {.context = 4, .chosen = {{"length", "2"}}});
  const Batch batch = {.inputs = tokens({1, 0, 1, 1, 0, 1, 0, 0}, {2, 4}),
                       .targets = tokens({1, 1, -100, -100, 0, 1, -100, -100}, {2, 4})};
  const Tensor right = one_hot(tokens({0, 0, 0, 1, 0, 0, 1, 0}, {2, 4}), 2, f32);
  const auto figures = task->figures(batch, {.logits = right});
  ASSERT_EQ(figures.size(), 1u);
  EXPECT_EQ(figures[0].name, "accuracy_beyond");
  EXPECT_EQ(figures[0].value(), 0.75);
}

TEST(Dyck, ClosesInTheRightOrderAndNoDeeper) {
  const auto task = make_task("dyck", {.chosen = {{"kinds", "3"}, {"depth", "3"}}});
  std::size_t deepest = 0;
  for (const auto& [inputs, targets] : all_rows(*task)) {
    std::string open;
    for (const char bracket : inputs) {
      const std::size_t kind = std::string_view("([{").find(bracket);
      if (kind != std::string_view::npos) {
        open += ")]}"[kind];
      } else {
        ASSERT_FALSE(open.empty());
        ASSERT_EQ(open.back(), bracket);
        open.pop_back();
      }
      deepest = std::max(deepest, open.size());
    }
    EXPECT_EQ(targets.substr(0, 31), inputs.substr(1, 31)) << "and then one more";
    EXPECT_EQ(targets.substr(32), dots(inputs.size() - 32));
  }
  EXPECT_EQ(deepest, 3u);
  EXPECT_THAT(refused("dyck", {.context = 31}), HasSubstr("dyck: context = 31"));
  EXPECT_THAT(refused("dyck", {.chosen = {{"kinds", "1"}, {"depth", "1"}}}),
              HasSubstr("dyck: kinds = 1 and depth = 1: there is but one row"));
  EXPECT_THAT(refused("dyck", {.chosen = {{"length", "1"}}}), HasSubstr("length = 1"));
}

TEST(Dyck, LooksAtTheBracketThatIsClosedWithinTheLength) {
  const auto task = make_task("dyck", {.context = 6, .chosen = {{"length", "4"}}});
  const Batch batch = {.inputs = tokens({0, 2, 3, 1, 0, 1}, {1, 6}),  // ([])()
                       .targets = tokens({2, 3, 1, 0, -100, -100}, {1, 6})};
  EXPECT_THAT(task->alignment(batch, 0), ElementsAre(Cell{1, 1}, Cell{2, 0}));
}

// Depth 1: an opening bracket of two kinds, then the one that closes it. Depth 2 and one kind:
// after the first there are two ways to go on, and then but one.
TEST(Dyck, BayesIsExact) {
  const auto task = make_task("dyck", {.chosen = {{"depth", "1"}}});
  EXPECT_NEAR(task->baselines().at(1).loss, std::log(2) / 2, 1e-12);
  const auto deeper =
      make_task("dyck", {.chosen = {{"depth", "2"}, {"kinds", "1"}, {"length", "2"}}});
  EXPECT_NEAR(deeper->baselines().at(1).loss, std::log(2) / 2, 1e-12);
}

TEST(Dyck, MeasuresClosingBracketsAndLegalMass) {
  const auto task = make_task("dyck", {.context = 4, .chosen = {{"length", "2"}, {"depth", "2"}}});
  const Batch batch = {.inputs = tokens({0, 2, 3, 1}, {1, 4}),  // ([])
                       .targets = tokens({2, 3, -100, -100}, {1, 4})};
  // Always sure of ')': wrong within, right beyond; legal only where ( is the last one open.
  const Tensor logits = 100.0 * one_hot(tokens({1, 1, 1, 1}, {1, 4}), 4, f32);
  const auto figures = task->figures(batch, {.logits = logits});
  ASSERT_EQ(figures.size(), 4u);
  EXPECT_EQ(figures[0].name, "closing_right");
  EXPECT_EQ(figures[0].value(), 0);
  EXPECT_NEAR(figures[1].value(), 0.5, 1e-6);
  EXPECT_EQ(figures[2].value(), 1);
  EXPECT_NEAR(figures[3].value(), 0.5, 1e-6);
  // Of four equally likely, three may follow ( and one ([, where no more may open; two may follow a
  // row that is closed.
  const auto even = task->figures(batch, {.logits = zeros({1, 4, 4})});
  EXPECT_NEAR(even[1].value(), (3 / 4. + 1 / 4.) / 2, 1e-6);
  EXPECT_NEAR(even[3].value(), (3 / 4. + 2 / 4.) / 2, 1e-6);
}

}  // namespace
}  // namespace heed
