// Where a function has no derivative: what gradcheck takes for a kink, and what it does not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heed/autograd/autograd.h>

#include <functional>
#include <utility>

namespace heed {
namespace {

using testing::HasSubstr;
using List = std::vector<Tensor>;

// What heed says at a kink is a slope between those of both sides; in the middle (a shared tie), it
// agrees with the central difference.
TEST(Gradcheck, KinkIsReportedAndIsNoFailure) {
  const Tensor x = tensor({-1, 0, 2, 2}, {4}, f64);
  const std::vector<std::pair<std::function<Tensor(const List&)>, int>> functions = {
      {[](const List& in) { return relu(in[0]); }, 1},
      {[](const List& in) { return elu(relu(in[0]) - 0.5); }, 1},
      {[](const List& in) { return amax(in[0], 0); }, 0},
      {[](const List& in) { return max(in[0], 0).values; }, 2},
      {[](const List& in) { return clamp(in[0], 0, 2); }, 3},
      {[](const List& in) { return norm(in[0] * in[0] - in[0] * 2.0, 0); }, 0},
      {[](const List& in) { return maximum(in[0], -in[0]); }, 0}};
  for (std::size_t i = 0; i < functions.size(); ++i) {
    SCOPED_TRACE(i);
    const GradcheckResult result = gradcheck(functions[i].first, {x});
    EXPECT_TRUE(result);
    EXPECT_EQ(result.kinks, functions[i].second) << result.message();
    EXPECT_EQ(result.checked, 4 - functions[i].second);
  }
  const GradcheckResult result = gradcheck(functions[0].first, {x}, {.order = 2});
  EXPECT_TRUE(result);
  EXPECT_EQ(result.kinks, 2);  // the slope, and at order 2 its jump
  EXPECT_THAT(result.message(),
              HasSubstr("2 kinks not compared: input 0 of shape (4), element 1 at (1)"));
}

// A relu whose slope at 0 is that of neither side, nor between them.
struct SteepAtZero {
  static constexpr std::string_view name = "steep_at_zero";
  static constexpr Saves saves = Saves::inputs;
  double slope;

  Tensor forward(const Tensor& x) const { return relu(x); }
  Grads backward(const Context& context, const Tensor& g) const {
    const Tensor x = context.input(0);
    return {where(x == 0.0, g * slope, where(x > 0.0, g, g * 0.0))};
  }
};

TEST(Gradcheck, GradientOutsideTheSlopesOfAKinkIsWrong) {
  const auto steep = [](double slope) {
    return gradcheck([=](const List& in) { return heed::apply(SteepAtZero{slope}, in[0]); },
                     {tensor({-1, 0, 2}, {3}, f64)});
  };
  EXPECT_EQ(steep(0.3).kinks, 1);
  EXPECT_FALSE(steep(1.01));
  EXPECT_FALSE(steep(-0.01));
  EXPECT_EQ(steep(1.01).kinks, 0);
}

// However fast it bends, a smooth function has no kink to hide behind.
TEST(Gradcheck, WrongGradientWhereAFunctionBendsIsNotAKink) {
  for (const double bend : {1., 1e3, 1e5})
    EXPECT_FALSE(
        gradcheck([=](const List& in) { return (square(in[0] * bend)).detach() + in[0] * 1e-3; },
                  {tensor({0, 0.01}, {2}, f64)}))
        << bend;
}

// Within a step of the bottom of a parabola the wrong 0 lies between the slopes on both sides; for
// the second element, between those of the small step too.
TEST(Gradcheck, WrongGradientNearTheBottomOfAParabolaIsNotAKink) {
  const GradcheckResult result =
      gradcheck([](const List& in) { return (1e6 * square(in[0])).detach() + in[0] * 0.0; },
                {tensor({1e-7, 1e-9}, {2}, f64)});
  EXPECT_FALSE(result);
  EXPECT_EQ(result.wrong, 2);
  EXPECT_EQ(result.kinks, 0) << result.message();
}

// A jump, and a difference that is nothing but rounding, have slopes that move apart.
struct Shifted {
  static constexpr std::string_view name = "shifted";
  static constexpr Saves saves = Saves::none;
  double jump, offset, slope;

  Tensor forward(const Tensor& x) const {
    return map(x, [*this](auto v) { return decltype(v)(v + offset + (v >= 0 ? jump : 0)); });
  }
  Grads backward(const Context&, const Tensor& g) const { return {g * slope}; }
};

TEST(Gradcheck, NeitherJumpNorRoundingIsAKink) {
  const auto check = [](Shifted op, Tensor x, std::uint64_t seed) {
    return gradcheck([=](const List& in) { return heed::apply(op, in[0]); }, {x}, {.seed = seed});
  };
  EXPECT_FALSE(check({1, 0, 7}, zeros({3}, f64), 0));
  const GradcheckResult jump = check({1, 0, 1}, tensor({0, 1}, {2}, f64), 0);
  EXPECT_EQ(jump.wrong, 1) << jump.message();
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    EXPECT_FALSE(check({0, 1e9, 1.05}, full({1}, 0.3, f64), seed)) << seed;
    EXPECT_EQ(check({0, 1e6, 1}, full({1}, 0.3, f64), seed).kinks, 0) << seed;
  }
}

TEST(Gradcheck, FailsIfNothingCouldBeCompared) {
  const auto f = [](const List& in) { return relu(in[0]); };
  const GradcheckResult result = gradcheck(f, {zeros({2}, f64)});
  EXPECT_FALSE(result);
  EXPECT_THAT(result.message(), HasSubstr("every element is at a kink: input 0 of shape (2)"));
  EXPECT_TRUE(gradcheck(f, {zeros({0}, f64)}));
}

}  // namespace
}  // namespace heed
