#include <gmock/gmock.h>
#include <heed/autograd/autograd.h>
#include <heed/train/cli/attention_row.h>

#include <cmath>

#include "support.h"

namespace heed::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// Two channels, three keys of which the last is hidden.
AttentionRow small_row() {
  return {.query = {1, 2},
          .keys = {{3, .5}, {1, .5}, {9, 9}},
          .values = {{10, 0}, {0, 20}, {7, 7}},
          .hidden = {false, false, true},
          .scale = .5,
          .names = {"a", "b", "c"}};
}

TEST(AttentionRow, IsWorkedOutStepByStep) {
  const AttentionSteps steps = steps_of(small_row());
  EXPECT_EQ(steps.scores, (Numbers{4, 2, 27}));
  EXPECT_EQ(steps.scaled, (Numbers{2, 1, 13.5}));
  EXPECT_EQ(steps.powers, (Numbers{1, std::exp(-1), 0}));
  const double a = 1 / (1 + std::exp(-1));
  EXPECT_DOUBLE_EQ(steps.weights[0], a);
  EXPECT_DOUBLE_EQ(steps.weights[1], 1 - a);
  EXPECT_EQ(steps.weights[2], 0);
  EXPECT_DOUBLE_EQ(steps.output[0], 10 * a);
  EXPECT_DOUBLE_EQ(steps.output[1], 20 * (1 - a));
}

TEST(AttentionRow, TakesABiasAfterTheScale) {
  AttentionRow row = small_row();
  row.slope = 1;
  row.position = 1;
  EXPECT_EQ(steps_of(row).bias, (Numbers{-1, 0, -1}));
  EXPECT_EQ(steps_of(row).scaled, (Numbers{1, 1, 12.5}));
  EXPECT_EQ(steps_of(row).weights, (Numbers{.5, .5, 0}));
  EXPECT_THAT(describe(row),
              AllOf(HasSubstr("+ bias; bias = -1 * the distance from position 1"),
                    HasSubstr("    score      bias    scaled "),
                    HasSubstr("0  a         4.0000   -1.0000    1.0000    1.0000    0.5000\n"),
                    HasSubstr("sum                                          2.0000    1.0000\n")));
}

TEST(AttentionRow, TurnsPairsAsRopeDoes) {
  const Tensor x = tensor({1, 2, 3, 4}, {1, 4}, f64);
  const Numbers turns{1, std::pow(10000., -2. / 4)};
  for (const std::int64_t position : {0, 1, 7}) {
    const Numbers here = turned({1, 2, 3, 4}, turns, static_cast<double>(position));
    const Numbers there = rope(x, tokens({position}, {1})).to_vector();
    for (std::size_t c = 0; c < here.size(); ++c) EXPECT_NEAR(here[c], there[c], 1e-12);
    const Numbers back = turned(here, turns, -static_cast<double>(position));
    for (std::size_t c = 0; c < back.size(); ++c) EXPECT_NEAR(back[c], 1. + double(c), 1e-12);
  }
}

TEST(AttentionRow, ShowsWhatRotaryPositionsDid) {
  AttentionRow row = small_row();
  row.scale = 1e-6;
  row.turns = {.5};
  row.position = 2;
  row.query = turned({1, 2}, row.turns, 2);
  EXPECT_THAT(describe(row),
              AllOf(HasSubstr("channels c and c + 1 turn by position * [0.5] radians\n"
                              "query before = [1.0000, 2.0000], turned by [1.0000]\n"
                              "key of position 0 before = [3.0000, 0.5000], turned by [0.0000]\n"
                              "query = [-1.1426, 1.9221]\n"),
                    HasSubstr("scaled = score * 1e-06;")));
}

TEST(AttentionRow, OfWhichNothingIsSeenGivesZeros) {
  AttentionRow row = small_row();
  row.hidden = {true, true, true};
  EXPECT_EQ(steps_of(row).weights, (Numbers{0, 0, 0}));
  EXPECT_EQ(steps_of(row).output, (Numbers{0, 0}));
}

TEST(AttentionRow, IsShownWithEveryNumber) {
  EXPECT_THAT(describe(small_row()),
              AllOf(HasSubstr("score = 1.0000*3.0000 + 2.0000*0.5000 = 4.0000"),
                    HasSubstr("0  a         4.0000    2.0000    1.0000    0.7311\n"),
                    Not(HasSubstr("2  c")), HasSubstr("   1.3679    1.0000\n"),
                    HasSubstr("output               7.3106    5.3788\n")));
}

TEST(AttentionRow, ShowsAHiddenKeyBeforeTheLastOneSeen) {
  AttentionRow row = small_row();
  row.hidden = {false, true, false};
  EXPECT_THAT(describe(row), AllOf(HasSubstr("1  b         2.0000    hidden         0         0\n"),
                                   HasSubstr("2  c        27.0000")));
}

}  // namespace
}  // namespace heed::cli
