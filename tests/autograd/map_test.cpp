// The loops that ops are made of.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heed/autograd/autograd.h>

#include "support.h"

namespace heed {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Map, LoopsDoNotCutTheGraph) {
  const Tensor x = leaf({1, 2});
  const auto twice = [](auto v) { return 2 * v; };
  const auto plus = [](auto a, auto b) { return a + b; };
  EXPECT_THAT(error_of<GraphError>([&] { map(x, twice); }),
              AllOf(HasSubstr("map"), HasSubstr("no derivative"), HasSubstr("NoGrad")));
  EXPECT_THROW(zip(x, ones({2}, f64), plus), GraphError);
  EXPECT_THROW(zip(ones({2}, f64), x, plus), GraphError);
  EXPECT_THAT(map(x.detach(), twice).to_vector(), ElementsAre(2, 4));
  const NoGrad quiet;
  EXPECT_THAT(map(x, twice).to_vector(), ElementsAre(2, 4));
  EXPECT_THAT(zip(x, x, plus).to_vector(), ElementsAre(2, 4));
}

TEST(Map, LoopsBroadcastAndCheckTheirOperands) {
  const auto minus = [](auto a, auto b) { return a - b; };
  const Tensor column = tensor({1, 2}, {2, 1}), row = tensor({10, 20, 30}, {3});
  const Tensor y = zip(column, row, minus);
  EXPECT_EQ(y.shape(), (Shape{2, 3}));
  EXPECT_THAT(y.to_vector(), ElementsAre(-9, -19, -29, -8, -18, -28));
  EXPECT_THAT(zip(row, column, minus).to_vector(), ElementsAre(9, 19, 29, 8, 18, 28));
  EXPECT_THAT(error_of<ShapeError>([&] { zip(row, ones({2}), minus, "blend"); }),
              AllOf(HasSubstr("blend"), HasSubstr("(3)"), HasSubstr("(2)")));
  EXPECT_THAT(error_of<DTypeError>([&] { zip(row, row.to(f64), minus); }),
              AllOf(HasSubstr("f32"), HasSubstr("f64"), HasSubstr("to()")));
}

}  // namespace
}  // namespace heed
