#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heed/autograd/autograd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <sstream>

#include "support.h"

namespace heed {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

template <class T>
std::string printed(const T& x) {
  std::ostringstream out;
  out << x;
  return out.str();
}

// GCC 12 copies such constants wrongly with AVX-512, unless told otherwise: see cmake/flags.cmake.
TEST(Compiler, CopiesConstantsThatEndInZeros) {
  std::array<double, 4> to{};
  const std::array<double, 4> one{1, 1, 1, 0}, two{2, 2, 0, 0};
  std::memcpy(to.data(), one.data(), sizeof to);
  EXPECT_THAT(to, ElementsAre(1, 1, 1, 0));
  std::memcpy(to.data(), two.data(), sizeof to);
  EXPECT_THAT(to, ElementsAre(2, 2, 0, 0));
}

TEST(Tensor, KnowsItsShape) {
  const Tensor x = tensor({1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_EQ(x.shape(), (Shape{2, 3}));
  EXPECT_EQ(x.ndim(), 2);
  EXPECT_EQ(x.numel(), 6);
  EXPECT_EQ(x.dim(0), 2);
  EXPECT_EQ(x.dim(-1), 3);
  EXPECT_EQ(x.dtype(), f32);
  EXPECT_THAT(error_of<IndexError>([&] { (void)x.dim(2); }),
              AllOf(HasSubstr("axis 2"), HasSubstr("-2 to 1")));
  EXPECT_THROW((void)x.dim(-3), IndexError);
}

TEST(Tensor, CountsTheValuesItIsGiven) {
  EXPECT_THAT(error_of<ShapeError>([] {
                tensor({1, 2}, {3});
              }),
              AllOf(HasSubstr("2 values"), HasSubstr("(3)")));
  EXPECT_EQ(tensor({}, {0, 3}).numel(), 0);
  EXPECT_EQ(tensor({7}, {}).item(), 7);
}

TEST(Tensor, GivesItsElements) {
  const Tensor x = tensor({1, 2}, {2}, f64);
  EXPECT_THAT(x.to_vector(), ElementsAre(1, 2));
  EXPECT_THAT(x.data<double>(), ElementsAre(1, 2));
  EXPECT_THAT(error_of<DTypeError>([&] { (void)x.data<float>(); }),
              AllOf(HasSubstr("f64"), HasSubstr("f32"), HasSubstr("to()")));
  EXPECT_THAT(error_of<ShapeError>([&] { (void)x.item(); }),
              AllOf(HasSubstr("(2)"), HasSubstr("2 elements")));
  EXPECT_THROW((void)zeros({0}).item(), ShapeError);
}

TEST(Tensor, StandsOnVectorBoundaries) {
  for (const std::int64_t n : {1, 3, 17, 1000})
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(zeros({n}).data<float>().data()) % 64, 0U);
}

TEST(Tensor, IsFilledAsAsked) {
  EXPECT_THAT(zeros({2, 2}).to_vector(), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(ones({2}, f64).to_vector(), ElementsAre(1, 1));
  EXPECT_THAT(full({2}, 2.5).to_vector(), ElementsAre(2.5, 2.5));
  EXPECT_THAT(eye(3).to_vector(), ElementsAre(1, 0, 0, 0, 1, 0, 0, 0, 1));
  EXPECT_THAT(eye(0).to_vector(), ElementsAre());
  EXPECT_THAT(arange(4, f64).to_vector(), ElementsAre(0, 1, 2, 3));
  EXPECT_THROW(zeros({2, -1}), ShapeError);
  EXPECT_THROW(arange(-1), ShapeError);
  const std::int64_t huge = std::int64_t{1} << 61;
  EXPECT_THROW(zeros({huge, 4}), ShapeError);    // more elements than 64 bits count
  EXPECT_THROW(zeros({huge}, f64), ShapeError);  // more bytes
}

TEST(Tensor, RandomNumbersAreTheSameForBothTypes) {
  Rng a(5), b(5);
  const std::vector<double> single = normal({100}, a, 1, 2, f32).to_vector();
  const std::vector<double> twice = normal({100}, b, 1, 2, f64).to_vector();
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(single[i], static_cast<float>(twice[i]));
  EXPECT_EQ(a.state(), b.state());
  const std::vector<double> u = uniform({1000}, a, -3, 5).to_vector();
  EXPECT_THAT(u, Each(testing::AllOf(testing::Ge(-3), testing::Le(5))));
  EXPECT_NEAR(mean(tensor(u, {1000})).item(), 1, .3);
}

TEST(Tensor, UndefinedIsAnErrorToUse) {
  const Tensor none;
  EXPECT_FALSE(none.defined());
  EXPECT_FALSE(none.requires_grad());
  EXPECT_THAT(error_of<GraphError>([&] { (void)none.shape(); }),
              AllOf(HasSubstr("undefined"), HasSubstr("defined()")));
  EXPECT_THROW((void)none.item(), GraphError);
  EXPECT_THROW((void)none.grad(), GraphError);
  EXPECT_THROW(none + none, GraphError);
  EXPECT_EQ(printed(none), "undefined");
}

// ---- copies and views

TEST(Tensor, HandlesShareWhatTheyStandFor) {
  Tensor x = tensor({1, 2}, {2});
  const Tensor other = x;
  x.mutate<float>()[0] = 9;
  EXPECT_THAT(other.to_vector(), ElementsAre(9, 2));
}

TEST(Tensor, DetachAndReshapeShareTheStorage) {
  const Tensor x = tensor({1, 2}, {2}).requires_grad_();
  EXPECT_EQ(x.detach().storage(), x.storage());
  EXPECT_FALSE(x.detach().requires_grad());
  EXPECT_EQ(reshape(x, {1, 2}).storage(), x.storage());
}

TEST(Tensor, CloneHasItsOwnStorageAndPassesTheGradient) {
  Tensor x = tensor({1, 2}, {2}, f64).requires_grad_();
  const Tensor y = x.clone();
  EXPECT_NE(y.storage(), x.storage());
  EXPECT_THAT(grad(sum(y * 3), x).to_vector(), ElementsAre(3, 3));
  x.mutate<double>()[0] = 9;
  EXPECT_THAT(y.to_vector(), ElementsAre(1, 2));
  EXPECT_TRUE(gradcheck([](const auto& in) { return in[0].clone() * in[0]; }, {x}, {.order = 2}));
}

TEST(Tensor, ToConvertsAndPassesTheGradientInTheTypeOfTheInput) {
  const Tensor x = tensor({1, .1}, {2}, f64).requires_grad_();
  const Tensor y = x.to(f32);
  EXPECT_EQ(y.dtype(), f32);
  EXPECT_THAT(y.to_vector(), ElementsAre(1, static_cast<float>(.1)));
  const Tensor dx = grad(sum(y * 3), x, {.create_graph = true});
  EXPECT_EQ(dx.dtype(), f64);
  EXPECT_THAT(dx.to_vector(), ElementsAre(3, 3));
  EXPECT_EQ(x.to(f64).storage(), x.storage());
}

// ---- leaves

TEST(Tensor, LeavesAreMadeAndUnmade) {
  Tensor x = tensor({1, 2}, {2}, f64);
  EXPECT_FALSE(x.requires_grad());
  x.requires_grad_();
  EXPECT_TRUE(x.requires_grad());
  EXPECT_FALSE(x.grad().defined());
  const Ref<Node> node = x.node();
  x.requires_grad_();
  EXPECT_EQ(x.node(), node);
  x.requires_grad_(false);
  EXPECT_FALSE(x.requires_grad());
}

TEST(Tensor, OutputOfAnOpIsNeitherLeafNorToBeChanged) {
  const Tensor x = tensor({1, 2}, {2}, f64).requires_grad_();
  Tensor y = exp(x);
  EXPECT_THAT(error_of<GraphError>([&] { y.requires_grad_(); }),
              AllOf(HasSubstr("exp"), HasSubstr("detach()")));
  EXPECT_THROW(y.requires_grad_(false), GraphError);
  EXPECT_THAT(error_of<GraphError>([&] { (void)y.mutate<double>(); }),
              AllOf(HasSubstr("exp"), HasSubstr("detach().clone()")));
  EXPECT_FALSE(y.grad().defined());
}

TEST(Tensor, MutateCountsAsOneChange) {
  Tensor x = zeros({2});
  const std::uint32_t before = x.storage()->version();
  x.mutate<float>()[0] = 1;
  EXPECT_EQ(x.storage()->version(), before + 1);
  (void)x.data<float>();
  EXPECT_EQ(x.storage()->version(), before + 1);
}

// ---- in words

TEST(Tensor, Prints) {
  EXPECT_EQ(printed(tensor({1, 2, 3, 4}, {2, 2})), "[[1, 2],\n [3, 4]] (2, 2) f32");
  EXPECT_EQ(printed(tensor({2.5}, {}, f64)), "2.5 () f64");
  EXPECT_EQ(printed(zeros({0})), "[] (0) f32");
  EXPECT_EQ(printed(zeros({2, 0})), "[[],\n []] (2, 0) f32");
  EXPECT_EQ(printed(arange(12)), "[0, 1, 2, 3, ..., 8, 9, 10, 11] (12) f32");
  const std::string tall = printed(reshape(arange(24), {12, 2}));
  EXPECT_THAT(tall, AllOf(HasSubstr(" [6, 7],\n ...,\n [16, 17],\n"), HasSubstr("[22, 23]]")));
}

TEST(Shape, ListsAndBroadcasts) {
  EXPECT_EQ(printed(Shape{2, 3}), "(2, 3)");
  EXPECT_EQ(printed(Shape{}), "()");
  EXPECT_EQ(broadcast_shapes("op", {3, 1}, {2, 1, 4}), (Shape{2, 3, 4}));
  EXPECT_EQ(broadcast_shapes("op", {}, {2}), Shape{2});
  EXPECT_EQ(broadcast_shapes("op", {0}, {1}), Shape{0});
  EXPECT_THAT(
      error_of<ShapeError>([] {
        broadcast_shapes("op", {2, 3}, {4, 3});
      }),
      AllOf(HasSubstr("op"), HasSubstr("(2, 3)"), HasSubstr("(4, 3)"), HasSubstr("axis -2")));
  EXPECT_TRUE(broadcasts_to({1, 3}, {2, 3}));
  EXPECT_FALSE(broadcasts_to({2, 3}, {3}));
  EXPECT_FALSE(broadcasts_to({2}, {3}));
  EXPECT_EQ(normalize_axis("op", -1, 3), 2U);
  EXPECT_THROW(normalize_axis("op", 3, 3), IndexError);
  EXPECT_THROW(normalize_axis("op", 0, 0), IndexError);
  EXPECT_THAT(error_of<ShapeError>([] {
                zeros({1, 1, 1, 1, 1, 1, 1, 1, 1});
              }),
              HasSubstr("8 axes"));
}

// ---- tokens and masks

TEST(Tokens, HoldIdsInAShape) {
  const Tokens t = tokens({5, 6, 7, 8}, {2, 2});
  EXPECT_EQ(t.shape(), (Shape{2, 2}));
  EXPECT_EQ(t.dim(-1), 2);
  EXPECT_EQ(t.numel(), 4);
  EXPECT_THAT(t.to_vector(), ElementsAre(5, 6, 7, 8));
  EXPECT_EQ(t.reshape({-1}).shape(), Shape{4});
  EXPECT_THROW(t.reshape({3}), ShapeError);
  EXPECT_THAT(error_of<ShapeError>([] { tokens({1}, {2}); }),
              AllOf(HasSubstr("tokens"), HasSubstr("(2)")));
  EXPECT_FALSE(Tokens().defined());
  EXPECT_EQ(Tokens().numel(), 0);
  EXPECT_THROW((void)Tokens().to_vector(), GraphError);
  EXPECT_EQ(printed(t), "[5, 6, 7, 8] (2, 2)");
}

TEST(Mask, CombinesAsBooleansWithBroadcasting) {
  const Mask row = mask({true, false}, {2}), column = mask({true, false}, {2, 1});
  EXPECT_THAT((row | column).to_vector(), ElementsAre(true, true, true, false));
  EXPECT_THAT((row & column).to_vector(), ElementsAre(true, false, false, false));
  EXPECT_EQ((row | column).shape(), (Shape{2, 2}));
  EXPECT_THAT((!row).to_vector(), ElementsAre(false, true));
  EXPECT_EQ((row | column).count(), 3);
  EXPECT_EQ(column.reshape({1, 2}).shape(), (Shape{1, 2}));
  EXPECT_THAT(error_of<ShapeError>([&] {
                (void)(row | mask({true, true, true}, {3}));
              }),
              AllOf(HasSubstr("(2)"), HasSubstr("(3)")));
  EXPECT_THROW(mask({true}, {2}), ShapeError);
  EXPECT_THROW((void)Mask().to_vector(), GraphError);
  EXPECT_EQ(printed(row), "[1, 0] (2)");
}

}  // namespace
}  // namespace heed
