// Rows and figures of modular, induction, markov, trigger and agreement.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heed/autograd/error.h>
#include <heed/autograd/ops/arithmetic.h>
#include <heed/autograd/ops/index.h>
#include <heed/autograd/ops/shape.h>
#include <heed/data/data.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "support.h"

namespace heed {
namespace {

using testing::HasSubstr;

std::string refused(std::string_view task, const TaskOptions& options) {
  return message_of<ValueError>([&] { make_task(task, options); });
}

/// The inputs of a batch, row by row, and then its last target.
std::vector<std::vector<std::int64_t>> whole_rows(const Batch& batch) {
  const auto width = static_cast<std::size_t>(batch.inputs.dim(1));
  std::vector<std::vector<std::int64_t>> whole;
  for (std::size_t i = 0; i < batch.inputs.data().size(); i += width) {
    const auto inputs = batch.inputs.data().subspan(i, width);
    whole.emplace_back(inputs.begin(), inputs.end());
    whole.back().push_back(batch.targets.data()[i + width - 1]);
  }
  return whole;
}

/// Logits of a model that is sure of the targets (of id 0 where there is none).
Tensor sure_of(const Batch& batch, std::int64_t vocabulary) {
  std::vector<std::int64_t> ids = batch.targets.to_vector();
  std::ranges::replace(ids, kIgnore, 0);
  return 100.0 * one_hot(tokens(ids, batch.targets.shape()), vocabulary, f32);
}

double figure(const std::vector<Figure>& figures, std::string_view name) {
  const auto found = std::ranges::find(figures, name, &Figure::name);
  EXPECT_NE(found, figures.end()) << name;
  return found == figures.end() ? std::nan("") : found->value();
}

TEST(Modular, AddsAndTheFullBatchIsEveryPairOnce) {
  const auto task = make_task("modular");
  EXPECT_EQ(task->vocabulary(), 60);
  EXPECT_EQ(task->held_out_rows(), 2089) << "60 % of 59 x 59";
  Rng rng(1);
  const RngState before = rng.state();
  const Batch full = task->sample(100'000, rng);
  EXPECT_EQ(rng.state(), before) << "nothing is drawn";
  EXPECT_EQ(full.inputs.dim(0), 59 * 59 - 2089);
  std::set<std::vector<std::int64_t>> seen;
  for (const Batch& batch : {full, task->held_out(0, 2089)})
    for (const auto& row : whole_rows(batch)) {
      EXPECT_EQ((row[0] + row[1]) % 59, row[3]);
      EXPECT_EQ(row[2], 59);
      seen.insert(row);
    }
  EXPECT_EQ(seen.size(), 59u * 59u);
  EXPECT_EQ(task->decode(whole_rows(task->held_out(0, 1))[0]).find(" = ") != std::string::npos,
            true);
}

TEST(Modular, TakesItsModulusAndFraction) {
  const auto task = make_task("modular", {.chosen = {{"modulus", "5"}, {"fraction", "0.6"}}});
  EXPECT_EQ(task->vocabulary(), 6);
  EXPECT_EQ(task->held_out_rows(), 10);
  EXPECT_THAT(refused("modular", {.chosen = {{"fraction", "0"}}}),
              HasSubstr("modular: fraction = 0: of 3481 pairs 3481 would be held out"));
  EXPECT_THAT(refused("modular", {.chosen = {{"fraction", "1"}}}), HasSubstr("fraction = 1"));
  EXPECT_THAT(refused("modular", {.chosen = {{"modulus", "2"}}}), HasSubstr("modulus = 2"));
  EXPECT_THAT(refused("modular", {.context = 4}), HasSubstr("modular: context = 4"));
}

TEST(Induction, SaysAPieceTwiceAndAsksAfterItsFirstLetter) {
  const auto task = make_task("induction");
  EXPECT_EQ(task->vocabulary(), 64);
  Rng rng(2);
  std::set<std::int64_t> lengths, starts;
  for (const Batch& batch : {task->sample(300, rng), task->held_out(0, 300)}) {
    for (std::int64_t row = 0; row < 300; ++row) {
      const auto cells = task->alignment(batch, row);
      const std::int64_t length = std::ssize(cells) + 1;
      lengths.insert(length);
      starts.insert(cells[0].key - 1);
      for (const auto& [query, key] : cells) {
        EXPECT_EQ(query - key, length - 1);
        EXPECT_EQ(batch.targets.data()[static_cast<std::size_t>(row * 64 + query)],
                  batch.inputs.data()[static_cast<std::size_t>(row * 64 + key)]);
      }
      const auto targets = batch.targets.data().subspan(static_cast<std::size_t>(row) * 64, 64);
      EXPECT_EQ(std::ranges::count(targets, kIgnore), 64 - std::ssize(cells));
      EXPECT_EQ(batch.inputs.data()[static_cast<std::size_t>(row * 64 + cells[0].key - 1)],
                batch.inputs.data()[static_cast<std::size_t>(row * 64 + cells[0].query)])
          << "the first letter of either";
    }
  }
  EXPECT_EQ(lengths.size(), 16u) << "10 to 25";
  EXPECT_EQ(*lengths.begin(), 10);
  EXPECT_GT(starts.size(), 30u);
  EXPECT_THAT(refused("induction", {.context = 48}), HasSubstr("induction: context = 48"));
  EXPECT_EQ(make_task("induction", {.context = 49})->context(), 49);
}

TEST(Markov, EveryRowHasAChainOfItsOwn) {
  const auto task = make_task("markov", {.context = 2000, .chosen = {{"states", "2"}}});
  Rng rng(3);
  std::vector<double> stays;  // how often a is followed by a
  for (const auto& row : whole_rows(task->sample(200, rng))) {
    double pairs = 0, stayed = 0;
    for (std::size_t t = 0; t + 1 < row.size(); ++t) {
      pairs += row[t] == 0;
      stayed += row[t] == 0 && row[t + 1] == 0;
    }
    if (pairs > 20) stays.push_back(stayed / pairs);
  }
  // Uniform on [0, 1]: mean 1/2, and a quarter of them in each quarter.
  ASSERT_GT(stays.size(), 150u);
  for (double low = 0; low < 1; low += 0.25) {
    const auto inside =
        std::ranges::count_if(stays, [low](double p) { return p >= low && p < low + 0.25; });
    EXPECT_NEAR(static_cast<double>(inside) / static_cast<double>(stays.size()), 0.25, 0.1) << low;
  }
  EXPECT_THAT(refused("markov", {.context = 15}), HasSubstr("markov: context = 15"));
}

// The model that says what Bayes says has no distance from it; the one that says nothing has none
// from the uniform one.
TEST(Markov, MeasuresTheDistanceFromEachWayToPredict) {
  const auto task = make_task("markov", {.context = 16, .chosen = {{"states", "2"}}});
  const Batch batch = task->held_out(0, 50);
  std::vector<double> bayes;
  for (const auto& row : whole_rows(batch))
    for (std::size_t t = 0; t < 16; ++t) {
      double followed[2] = {1, 1};
      for (std::size_t s = 0; s < t; ++s)
        if (row[s] == row[t]) ++followed[row[s + 1]];
      for (const double count : followed)
        bayes.push_back(std::log(count / (followed[0] + followed[1])));
    }
  const auto exact = task->figures(batch, {.logits = tensor(bayes, {50, 16, 2}, f64)});
  EXPECT_NEAR(figure(exact, "kl_bigram"), 0, 1e-12);
  EXPECT_GT(figure(exact, "kl_unigram"), 0.01);
  EXPECT_EQ(exact[0].count, 50 * 8) << "the second half of each row";
  const auto nothing = task->figures(batch, {.logits = zeros({50, 16, 2}, f64)});
  EXPECT_NEAR(figure(nothing, "kl_uniform"), 0, 1e-12);
  EXPECT_GT(figure(nothing, "kl_bigram"), 0.01);
}

// Counted anew, with one added to each.
TEST(Markov, BaselinesAreThoseOfTheHeldOutRows) {
  const auto task = make_task("markov", {.chosen = {{"states", "2"}}});
  double unigram = 0, bigram = 0, count = 0;
  for (const auto& row : whole_rows(task->held_out(0, task->held_out_rows()))) {
    std::map<std::int64_t, double> seen;
    std::map<std::pair<std::int64_t, std::int64_t>, double> pairs;
    for (std::size_t t = 0; t + 1 < row.size(); ++t) {
      ++seen[row[t]];
      if (t > 0) ++pairs[{row[t - 1], row[t]}];
      unigram -= std::log((seen[row[t + 1]] + 1) / (static_cast<double>(t) + 3));
      bigram -= std::log((pairs[{row[t], row[t + 1]}] + 1) /
                         (pairs[{row[t], 0}] + pairs[{row[t], 1}] + 2));
      ++count;
    }
  }
  const auto baselines = task->baselines();
  EXPECT_NEAR(baselines.at(1).loss, unigram / count, 1e-9);
  EXPECT_NEAR(baselines.at(2).loss, bigram / count, 1e-9);
  EXPECT_LT(baselines[2].loss, baselines[1].loss);
}

TEST(Induction, AnAnswerIsWhatIsLeftToSayAgain) {
  const auto left = [](const std::string& prompt) {
    return find_task("induction").answer(make_task("induction")->encode(prompt));
  };
  EXPECT_EQ(left("0abcdefghija"), 9);
  EXPECT_EQ(left("0abcdefghijabcdefghi"), 1);
  EXPECT_EQ(left("0abcdefghijabcdefghij"), 0);
  EXPECT_EQ(left("cXXXabcdefghijabc"), 7) << "three letters of ten, and not one of sixteen";
  EXPECT_EQ(left("aXXXXaYYYYYZZZZa"), 14) << "of equals the longest";
  for (const char* none : {"", "a", "abcabc", "abcdefghij"})
    EXPECT_GT(left(none), 1000) << none << ": nobody knows";
}

TEST(Trigger, OneLetterFollowsATriggerThroughoutARow) {
  const auto task = make_task("trigger");
  EXPECT_EQ(task->vocabulary(), 24);
  Rng rng(4);
  std::set<std::int64_t> outputs_of_first;
  std::map<std::int64_t, std::set<std::int64_t>> successors;
  double triggers = 0, letters = 0;
  for (const auto& row : whole_rows(task->sample(500, rng))) {
    std::map<std::int64_t, std::int64_t> output;
    for (std::size_t t = 0; t + 1 < row.size(); ++t) {
      if (row[t] >= 20) {
        EXPECT_LT(row[t + 1], 20);
        EXPECT_EQ(output.emplace(row[t], row[t + 1]).first->second, row[t + 1]);
      } else {
        ++letters;
        triggers += row[t + 1] >= 20;
        if (row[t + 1] < 20) successors[row[t]].insert(row[t + 1]);
      }
    }
    if (output.contains(20)) outputs_of_first.insert(output[20]);
  }
  EXPECT_EQ(outputs_of_first.size(), 20u);
  for (const auto& [letter, after] : successors) EXPECT_EQ(after.size(), 4u) << letter;
  EXPECT_NEAR(triggers / letters, 0.2, 0.02);
  EXPECT_THAT(refused("trigger", {.context = 7}), HasSubstr("trigger: context = 7"));
}

// Counted anew: 20 letters may follow a trigger; after a letter comes in one case of five one of 4
// triggers, else one of 4 letters.
TEST(Trigger, BaselinesAreThoseOfTheHeldOutRows) {
  const auto task = make_task("trigger");
  double bigram = 0, bayes = 0, count = 0;
  for (const auto& row : whole_rows(task->held_out(0, task->held_out_rows()))) {
    std::set<std::int64_t> seen;
    for (std::size_t t = 0; t + 1 < row.size(); ++t) {
      const bool trigger = row[t] >= 20;
      const double loss = -std::log(trigger ? 0.05 : row[t + 1] >= 20 ? 0.2 / 4 : 0.8 / 4);
      bigram += loss;
      if (!trigger || seen.insert(row[t]).second) bayes += loss;
      ++count;
    }
  }
  const auto baselines = task->baselines();
  EXPECT_NEAR(baselines.at(1).loss, bigram / count, 1e-9);
  EXPECT_NEAR(baselines.at(2).loss, bayes / count, 1e-9);
}

TEST(Trigger, MeasuresWhereBothLayersLook) {
  const auto task = make_task("trigger", {.context = 8});
  // a A c b A c a A: triggers at 1, 4, 7; of those that have come before, both ask for c.
  const Batch batch = {.inputs = tokens({0, 20, 2, 1, 20, 2, 0, 20}, {1, 8}),
                       .targets = tokens({20, 2, 1, 20, 2, 0, 20, 2}, {1, 8})};
  EXPECT_THAT(task->alignment(batch, 0),
              testing::ElementsAre(Cell{.query = 4, .key = 2}, Cell{.query = 7, .key = 5}));
  const auto map = [](std::vector<std::int64_t> keys) {
    return NamedTensor{"layer",
                       reshape(one_hot(tokens(std::move(keys), {1, 8}), 8, f32), {1, 1, 8, 8})};
  };
  // The first layer looks back by one from 2 only; the second finds a c from 4 and from 7 an a.
  const Answers answers{.logits = sure_of(batch, 24),
                        .weights = {map({0, 0, 1, 2, 3, 5, 5, 6}), map({0, 0, 0, 0, 2, 0, 0, 6})}};
  const auto found = task->figures(batch, answers);
  EXPECT_EQ(figure(found, "previous_token"), 0.5);
  EXPECT_EQ(figure(found, "after_trigger"), 0.5);
  EXPECT_EQ(figure(found, "output_right"), 1);
  const Answers earlier{.logits = sure_of(batch, 24),
                        .weights = {map({0, 0, 1, 2, 3, 4, 5, 6}), map({0, 0, 0, 0, 2, 0, 0, 2})}};
  EXPECT_EQ(figure(task->figures(batch, earlier), "after_trigger"), 1) << "any c will do";
  const auto blind = task->figures(batch, {.logits = zeros({1, 8, 24})});
  EXPECT_EQ(blind[0].count, 0) << "nobody looked";
  EXPECT_EQ(figure(blind, "output_right"), 0);
}

TEST(Agreement, TheVerbHasTheNumberOfTheSubject) {
  const auto task = make_task("agreement");
  Rng rng(5);
  std::map<std::size_t, int> phrases;
  for (const Batch& batch : {task->sample(300, rng), task->held_out(0, 300)}) {
    const auto inputs = rows(*task, batch.inputs), targets = rows(*task, batch.targets);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const auto words = split_words(inputs[i]), asked = split_words(targets[i]);
      const auto cells = task->alignment(batch, static_cast<std::int64_t>(i));
      ASSERT_EQ(cells.size(), 1u);
      const auto query = static_cast<std::size_t>(cells[0].query);
      const auto key = static_cast<std::size_t>(cells[0].key);
      EXPECT_EQ(std::ranges::count(asked, "·"), std::ssize(asked) - 1);
      EXPECT_EQ(asked[query], words[key].back() == 's' ? "are" : "is") << inputs[i];
      EXPECT_TRUE(key == 2 || key == 3) << inputs[i];
      EXPECT_EQ((query - key) % 3, 0u) << "phrases of three words";
      ++phrases[(query - key) / 3];
    }
  }
  EXPECT_EQ(phrases.size(), 5u) << "0 to 4";
  EXPECT_THAT(refused("agreement", {.context = 15}), HasSubstr("agreement: context = 15"));
}

TEST(Agreement, CountsRightVerbsByAttractors) {
  const auto task = make_task("agreement");
  const std::string end = " . . . . .";
  const std::string one = "the old keys near the door beside the doors is" + end;
  const std::string none = "the old key near the door beside the door is" + end;
  std::vector<std::int64_t> inputs, targets(32, kIgnore);
  for (const std::string& sentence : {one, none})
    for (const std::int64_t id : task->encode(sentence)) inputs.push_back(id);
  ASSERT_EQ(inputs.size(), 2 * 15u);
  inputs.insert(inputs.begin() + 15, inputs[14]);
  inputs.push_back(inputs[14]);
  const std::int64_t is = task->encode("is")[0];
  targets[8] = task->encode("are")[0];
  targets[16 + 8] = is;
  const Batch batch = {.inputs = tokens(inputs, {2, 16}), .targets = tokens(targets, {2, 16})};
  const Tensor always_is =
      one_hot(tokens(std::vector<std::int64_t>(32, is), {2, 16}), task->vocabulary(), f32);
  const auto found = task->figures(batch, {.logits = always_is});
  ASSERT_EQ(found.size(), 5u);
  EXPECT_EQ(figure(found, "right_with_0_attractors"), 1);
  EXPECT_EQ(figure(found, "right_with_1_attractors"), 0);
  EXPECT_EQ(found[2].count, 0);
}

}  // namespace
}  // namespace heed
