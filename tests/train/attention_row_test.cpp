#include <gmock/gmock.h>
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
  row.bias = {-1, 0, 0};
  EXPECT_EQ(steps_of(row).scaled, (Numbers{1, 1, 13.5}));
  EXPECT_EQ(steps_of(row).weights, (Numbers{.5, .5, 0}));
  EXPECT_THAT(describe(row), HasSubstr("+ bias"));
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
