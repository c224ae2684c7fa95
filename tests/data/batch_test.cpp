#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heed/autograd/error.h>
#include <heed/data/data.h>

namespace heed {
namespace {

using testing::ElementsAre;

TEST(NextTokenRows, TargetsAreTheInputsOnePositionOn) {
  NextTokenRows rows(2, 3);
  rows.add(std::vector<std::int64_t>{1, 2, 3, 4});
  rows.add(std::vector<std::int64_t>{5, 6, 7, 8}, 2);
  const Batch batch = rows.batch();
  EXPECT_EQ(batch.inputs.shape(), Shape({2, 3}));
  EXPECT_EQ(batch.targets.shape(), Shape({2, 3}));
  EXPECT_THAT(batch.inputs.to_vector(), ElementsAre(1, 2, 3, 5, 6, 7));
  EXPECT_THAT(batch.targets.to_vector(), ElementsAre(2, 3, 4, kIgnore, kIgnore, 8));
  EXPECT_FALSE(batch.hidden.defined());
  EXPECT_FALSE(batch.memory.defined());
}

TEST(NextTokenRows, RefusesWhatIsNotABatch) {
  EXPECT_THROW(NextTokenRows(0, 3), ValueError);
  EXPECT_THROW(NextTokenRows(-1, 3), ValueError);
  EXPECT_THROW(NextTokenRows(2, 0), ValueError);
  NextTokenRows rows(2, 1);
  EXPECT_THROW(rows.add(std::vector<std::int64_t>{1}), ShapeError);
  EXPECT_THROW(rows.add(std::vector<std::int64_t>{1, 2, 3}), ShapeError);
  rows.add(std::vector<std::int64_t>{1, 2});
  EXPECT_THROW(rows.batch(), ShapeError) << "a row is missing";
  rows.add(std::vector<std::int64_t>{1, 2});
  EXPECT_THROW(rows.add(std::vector<std::int64_t>{1, 2}), ShapeError) << "it is full";
}

}  // namespace
}  // namespace heed
