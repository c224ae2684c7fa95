#include <gmock/gmock.h>
#include <heed/autograd/autograd.h>
#include <heed/data/data.h>
#include <heed/train/train.h>

#include <cmath>
#include <functional>

#include "support.h"

namespace heed {
namespace {

/// One row, one head; weights (1, 1, T, T) with a[i][target(i)] = 1.
Tensor pattern(std::int64_t length, const std::function<std::int64_t(std::int64_t)>& target) {
  std::vector<double> weights(static_cast<std::size_t>(length * length), 0);
  for (std::int64_t i = 0; i < length; ++i)
    weights[static_cast<std::size_t>(i * length + target(i))] = 1;
  return tensor(std::move(weights), {1, 1, length, length});
}

Tokens row(std::vector<std::int64_t> ids) {
  const auto length = static_cast<std::int64_t>(ids.size());
  return tokens(std::move(ids), {1, length});
}

HeadMetrics metrics(const Tensor& weights, const Tokens& inputs) {
  return head_metrics(weights, inputs).front();
}

// a b c a b c: each second occurrence has a copy three places before it.
const Tokens kTwice = row({0, 1, 2, 0, 1, 2});

TEST(HeadMetrics, PreviousToken) {
  const HeadMetrics m =
      metrics(pattern(6, [](std::int64_t i) { return std::max<std::int64_t>(i - 1, 0); }), kTwice);
  EXPECT_EQ(m.previous_token, 1);
  EXPECT_EQ(m.first_token, .2);  // for the second query only
  EXPECT_EQ(m.diagonal, 0);
  EXPECT_EQ(m.duplicate_token, 0);
  EXPECT_EQ(m.induction, 0);
  EXPECT_EQ(m.mean_distance, 1);
  EXPECT_EQ(m.largest_weight, 1);
  EXPECT_EQ(m.entropy, 0);
}

TEST(HeadMetrics, FirstToken) {
  const HeadMetrics m = metrics(pattern(6, [](std::int64_t) { return 0; }), kTwice);
  EXPECT_EQ(m.first_token, 1);
  EXPECT_EQ(m.previous_token, .2);
  EXPECT_EQ(m.mean_distance, 3);
  EXPECT_DOUBLE_EQ(m.duplicate_token, 1 / 3.) << "the second a sees the first one";
}

TEST(HeadMetrics, Diagonal) {
  const HeadMetrics m = metrics(pattern(6, [](std::int64_t i) { return i; }), kTwice);
  EXPECT_EQ(m.diagonal, 1);
  EXPECT_EQ(m.mean_distance, 0);
  EXPECT_EQ(m.duplicate_token, 0) << "a token is not its own duplicate";
  EXPECT_EQ(m.induction, 0);
}

TEST(HeadMetrics, DuplicateToken) {
  const HeadMetrics m =
      metrics(pattern(6, [](std::int64_t i) { return i < 3 ? i : i - 3; }), kTwice);
  EXPECT_EQ(m.duplicate_token, 1);
  EXPECT_EQ(m.induction, 0);
}

TEST(HeadMetrics, Induction) {
  const HeadMetrics m =
      metrics(pattern(6, [](std::int64_t i) { return i < 3 ? i : i - 2; }), kTwice);
  EXPECT_EQ(m.induction, 1);
  EXPECT_EQ(m.duplicate_token, 0);
}

TEST(HeadMetrics, InductionCountsAllEarlierOccurrences) {
  Tensor weights = zeros({1, 1, 5, 5});
  auto a = weights.mutate<float>();
  a[4 * 5 + 1] = .5f;   // after the first a
  a[4 * 5 + 3] = .25f;  // after the second
  EXPECT_EQ(metrics(weights, row({0, 1, 0, 2, 0})).induction, .375)
      << "the mean over the second a, which sees nothing here, and the third";
}

TEST(HeadMetrics, UniformCausal) {
  const Tensor weights =
      reshape(softmax(masked_fill(zeros({4, 4}, f64), causal_mask(4), -infinity)), {1, 1, 4, 4});
  const HeadMetrics m = metrics(weights, row({0, 1, 2, 3}));
  EXPECT_NEAR(m.entropy, std::log(24.) / 4, 1e-12);
  EXPECT_NEAR(m.previous_token, (1 / 2. + 1 / 3. + 1 / 4.) / 3, 1e-12);
  EXPECT_NEAR(m.mean_distance, (.5 + 1 + 1.5) / 3, 1e-12);
  EXPECT_NEAR(m.largest_weight, (1 / 2. + 1 / 3. + 1 / 4.) / 3, 1e-12);
  EXPECT_TRUE(std::isnan(m.duplicate_token)) << "no token occurs twice";
  EXPECT_TRUE(std::isnan(m.induction));
  EXPECT_TRUE(std::isnan(m.alignment));
}

TEST(HeadMetrics, TakesEachHeadAndAveragesTheRows) {
  // Two rows, two heads, two positions; head 1 of row 0 alone looks back.
  Tensor weights = zeros({2, 2, 2, 2});
  auto a = weights.mutate<float>();
  for (std::size_t map = 0; map < 4; ++map) {
    a[map * 4] = 1;
    a[map * 4 + (map == 1 ? 2 : 3)] = 1;
  }
  const std::vector<std::vector<Cell>> cells{{{1, 0}}, {{1, 0}, {0, 0}}};
  const auto found = head_metrics(weights, tokens({0, 1, 0, 1}, {2, 2}), cells);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].diagonal, 1);
  EXPECT_EQ(found[1].diagonal, .5);
  EXPECT_EQ(found[1].previous_token, .5);
  EXPECT_DOUBLE_EQ(found[0].alignment, 1 / 3.);
  EXPECT_DOUBLE_EQ(found[1].alignment, 2 / 3.);
}

TEST(HeadMetrics, RefusesWhatDoesNotFit) {
  const Tensor weights = zeros({1, 1, 2, 2});
  EXPECT_THROW(head_metrics(weights, row({0, 1, 2})), ShapeError);
  EXPECT_THROW(head_metrics(zeros({1, 2, 2}), row({0, 1})), ShapeError);
  const std::vector<std::vector<Cell>> two_rows(2), outside{{{0, 2}}};
  EXPECT_THROW(head_metrics(weights, row({0, 1}), two_rows), ShapeError);
  EXPECT_THROW(head_metrics(weights, row({0, 1}), outside), IndexError);
}

TEST(HeadMetrics, AsksTheTaskForEveryRow) {
  const std::unique_ptr<Task> task = make_task("copy");
  const Batch batch = task->held_out(0, 3);
  const auto cells = alignment_cells(*task, batch);
  ASSERT_EQ(cells.size(), 3u);
  for (const auto& row_cells : cells) EXPECT_EQ(row_cells, task->alignment(batch, 0));
}

TEST(HeadMetrics, OfCrossAttentionComparesNoPlaces) {
  const Tensor weights = tensor({.25, .75, 0, 0, 0, 1}, {1, 1, 2, 3});  // (B, H, T, S)
  const std::vector<std::vector<Cell>> cells{{{0, 1}, {1, 2}}};
  const HeadMetrics m = head_metrics(weights, {}, cells).front();
  EXPECT_EQ(m.alignment, .875);
  EXPECT_EQ(m.largest_weight, .875);
  EXPECT_DOUBLE_EQ(m.entropy, -(.25 * std::log(.25) + .75 * std::log(.75)) / 2);
  for (const double compared : {m.previous_token, m.first_token, m.diagonal, m.duplicate_token,
                                m.induction, m.mean_distance})
    EXPECT_TRUE(std::isnan(compared));

  EXPECT_THROW(head_metrics(zeros({1, 2, 3}), {}), ShapeError);
  const std::vector<std::vector<Cell>> outside{{{0, 3}}}, below{{{2, 0}}};
  EXPECT_THROW(head_metrics(weights, {}, outside), IndexError);
  EXPECT_THROW(head_metrics(weights, {}, below), IndexError);
}

}  // namespace
}  // namespace heed
