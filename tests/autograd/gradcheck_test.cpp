// Tests of the tester: each wrong backward below has to be found, and told where it is wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heed/autograd/autograd.h>

#include <cmath>

namespace heed {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using List = std::vector<Tensor>;

Tensor wave(Shape shape, double phase = 0) {
  Tensor x = zeros(shape, f64);
  auto values = x.mutate<double>();
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = std::sin(1.7 * static_cast<double>(i) + phase) + 0.1;
  return x;
}

enum class Fault { none, sign, factor, detached, second_order };

// y = x³
struct Cube {
  static constexpr std::string_view name = "cube";
  static constexpr Saves saves = Saves::inputs;
  Fault fault = Fault::none;

  Tensor forward(const Tensor& x) const {
    return map(x, [](auto v) { return v * v * v; });
  }

  Grads backward(const Context& context, const Tensor& g) const;
};

// y = 3x², with a derivative of 5x instead of 6x
struct WrongSlope {
  static constexpr std::string_view name = "wrong_slope";
  static constexpr Saves saves = Saves::inputs;

  Tensor forward(const Tensor& x) const {
    return map(x, [](auto v) { return 3 * v * v; });
  }
  Grads backward(const Context& context, const Tensor& g) const {
    return {g * 5.0 * context.input(0)};
  }
};

Grads Cube::backward(const Context& context, const Tensor& g) const {
  const Tensor x = context.input(0);
  switch (fault) {
    case Fault::sign:
      return {g * square(x) * -3.0};
    case Fault::factor:
      return {g * square(x) * 3.003};
    case Fault::detached:
      return {(g * square(x) * 3.0).detach()};
    case Fault::second_order:
      return {g * heed::apply(WrongSlope{}, x)};
    case Fault::none:
      break;
  }
  return {g * square(x) * 3.0};
}

auto cube(Fault fault) {
  return [fault](const List& in) { return heed::apply(Cube{fault}, in[0]); };
}

TEST(Gradcheck, RightOpPassesInBothOrders) {
  const GradcheckResult result = gradcheck(cube(Fault::none), {wave({2, 3})}, {.order = 2});
  EXPECT_TRUE(result);
  EXPECT_EQ(result.order, 2);
  EXPECT_EQ(result.checked, 12);  // six elements of the input, six of the cotangent
  EXPECT_THAT(result.message(), HasSubstr("order 2 agrees in 12 elements"));
}

TEST(Gradcheck, FindsWrongSign) {
  const GradcheckResult result = gradcheck(cube(Fault::sign), {wave({2, 3})});
  EXPECT_FALSE(result);
  EXPECT_EQ(result.wrong, 6);
  EXPECT_NEAR(result.analytic, -result.numeric, 1e-6);
}

TEST(Gradcheck, FindsFactorOfOnePermille) {
  const GradcheckResult result = gradcheck(cube(Fault::factor), {wave({2, 3})});
  EXPECT_FALSE(result);
  EXPECT_NEAR(result.analytic / result.numeric, 1.001, 1e-6);
}

TEST(Gradcheck, FindsDetachedBackwardAtOrderTwoOnly) {
  EXPECT_TRUE(gradcheck(cube(Fault::detached), {wave({2, 3})}));
  const GradcheckResult result = gradcheck(cube(Fault::detached), {wave({2, 3})}, {.order = 2});
  EXPECT_FALSE(result);
  EXPECT_EQ(result.order, 2);
  EXPECT_EQ(result.analytic, 0);
  EXPECT_THAT(result.message(), HasSubstr("order 2 is wrong in 12 of 12 elements"));
}

TEST(Gradcheck, FindsWrongSecondOrderBehindRightFirst) {
  EXPECT_TRUE(gradcheck(cube(Fault::second_order), {wave({2, 3})}));
  const GradcheckResult result = gradcheck(cube(Fault::second_order), {wave({2, 3})}, {.order = 2});
  EXPECT_FALSE(result);
  EXPECT_EQ(result.order, 2);
  EXPECT_EQ(result.wrong, 6);  // the derivative in the direction of the cotangent is right
  EXPECT_EQ(result.input, 0U);
  EXPECT_NEAR(result.analytic / result.numeric, 5. / 6, 1e-6);
}

// y = a + b, which forgets that b was stretched: its gradient is that of one of the rows.
struct AddOneRow {
  static constexpr std::string_view name = "add_one_row";
  static constexpr Saves saves = Saves::none;

  Tensor forward(const Tensor& a, const Tensor& b) const {
    return zip(a, b, [](auto x, auto y) { return x + y; });
  }
  Grads backward(const Context& context, const Tensor& g) const {
    return {g, reshape(slice(g, 0, 0, 1), context.shape(1))};
  }
};

TEST(Gradcheck, FindsMissingReductionOverBroadcastAxis) {
  const auto f = [](const List& in) { return heed::apply(AddOneRow{}, in[0], in[1]); };
  EXPECT_TRUE(gradcheck(f, {wave({1, 3}), wave({3})}));
  const GradcheckResult result = gradcheck(f, {wave({2, 3}), wave({3})});
  EXPECT_FALSE(result);
  EXPECT_EQ(result.input, 1U);
  EXPECT_EQ(result.wrong, 3);
  EXPECT_EQ(result.checked, 9);
}

// The same without any reduction: the engine refuses the shape.
struct AddUnreduced {
  static constexpr std::string_view name = "add_unreduced";
  static constexpr Saves saves = Saves::none;

  Tensor forward(const Tensor& a, const Tensor& b) const {
    return zip(a, b, [](auto x, auto y) { return x + y; });
  }
  Grads backward(const Context&, const Tensor& g) const { return {g, g}; }
};

TEST(Gradcheck, GradientOfWrongShapeIsRefusedByName) {
  const auto f = [](const List& in) { return heed::apply(AddUnreduced{}, in[0], in[1]); };
  try {
    gradcheck(f, {wave({2, 3}), wave({3})});
    FAIL() << "a gradient of shape (2, 3) was taken for (3)";
  } catch (const ShapeError& error) {
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("add_unreduced"), HasSubstr("(2, 3)"), HasSubstr("(3)")));
  }
}

// y = a·b, whose gradients are handed to the wrong inputs.
struct MulSwapped {
  static constexpr std::string_view name = "mul_swapped";
  static constexpr Saves saves = Saves::inputs;

  Tensor forward(const Tensor& a, const Tensor& b) const {
    return zip(a, b, [](auto x, auto y) { return x * y; });
  }
  Grads backward(const Context& context, const Tensor& g) const {
    return {g * context.input(0), g * context.input(1)};
  }
};

TEST(Gradcheck, FindsGradientForWrongInput) {
  const auto f = [](const List& in) { return heed::apply(MulSwapped{}, in[0], in[1]); };
  const GradcheckResult result = gradcheck(f, {wave({2, 2}), wave({2, 2}, 2)});
  EXPECT_FALSE(result);
  EXPECT_EQ(result.wrong, 8);
}

// y = softmax(x), with the gradient of a constant: right for every sum over a row.
struct FlatSoftmax {
  static constexpr std::string_view name = "flat_softmax";
  static constexpr Saves saves = Saves::none;

  Tensor forward(const Tensor& x) const { return softmax(x); }
  Grads backward(const Context&, const Tensor& g) const { return {g * 0.0}; }
};

TEST(Gradcheck, CotangentIsNeverOnes) {
  const auto f = [](const List& in) { return heed::apply(FlatSoftmax{}, in[0]); };
  EXPECT_FALSE(gradcheck(f, {wave({2, 3})}));
}

// y = x², wrong in one element only.
struct OneWrong {
  static constexpr std::string_view name = "one_wrong";
  static constexpr Saves saves = Saves::inputs;

  Tensor forward(const Tensor& x) const { return square(x); }
  Grads backward(const Context& context, const Tensor& g) const {
    Tensor dx = (g * context.input(0) * 2.0).detach().clone();
    dx.mutate<double>()[4] += 1;
    return {dx};
  }
};

TEST(Gradcheck, MessageNamesElementAndBothValues) {
  const auto f = [](const List& in) { return heed::apply(OneWrong{}, in[1]); };
  const GradcheckResult result = gradcheck(f, {wave({2}), wave({2, 3})});
  EXPECT_FALSE(result);
  EXPECT_EQ(result.input, 1U);
  EXPECT_EQ(result.element, 4);
  EXPECT_NEAR(result.analytic - result.numeric, 1, 1e-6);
  std::ostringstream analytic, numeric;
  analytic.precision(10);
  numeric.precision(10);
  analytic << "analytic " << result.analytic;
  numeric << "numeric " << result.numeric;
  EXPECT_THAT(
      result.message(),
      AllOf(HasSubstr("wrong in 1 of 8 elements"), HasSubstr("input 1 of shape (2, 3)"),
            HasSubstr("element 4 at (1, 1)"), HasSubstr(analytic.str()), HasSubstr(numeric.str())));
}

TEST(Gradcheck, PrintsItsMessageAsAssertionResult) {
  const testing::AssertionResult wrong = gradcheck(cube(Fault::sign), {wave({2})});
  EXPECT_FALSE(wrong);
  EXPECT_THAT(wrong.message(), HasSubstr("order 1 is wrong in 2 of 2 elements"));
  EXPECT_TRUE(gradcheck(cube(Fault::none), {wave({2})}));
}

TEST(Gradcheck, NonFiniteGradientIsWrong) {
  const auto f = [](const List& in) { return sqrt(in[0] * in[0]); };  // 0/0 at 0
  EXPECT_FALSE(gradcheck(f, {zeros({1}, f64)}));
}

TEST(Gradcheck, RefusesTolerancesAndStepsThatAreNone) {
  for (const double bad : {-1., double(infinity), std::nan("")}) {
    EXPECT_THROW(gradcheck(cube(Fault::none), {wave({2})}, {.eps = bad}), ValueError);
    EXPECT_THROW(gradcheck(cube(Fault::none), {wave({2})}, {.rtol = bad}), ValueError);
    EXPECT_THROW(gradcheck(cube(Fault::none), {wave({2})}, {.atol = bad}), ValueError);
  }
  EXPECT_THROW(gradcheck([](const List&) { return Tensor(); }, {wave({2})}), GraphError);
}

TEST(Gradcheck, SinglesAreRefusedWithTheReason) {
  try {
    gradcheck(cube(Fault::none), {ones({2, 3}, f32)});
    FAIL() << "f32 was accepted";
  } catch (const DTypeError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("input 0"), HasSubstr("f32"), HasSubstr("rounding"),
                                    HasSubstr("to(f64)")));
  }
  EXPECT_THROW(gradcheck([](const List& in) { return in[0].to(f32); }, {wave({2})}), DTypeError);
}

TEST(Gradcheck, UnknownOrderIsRefused) {
  EXPECT_THROW(gradcheck(cube(Fault::none), {wave({1})}, {.order = 3}), ValueError);
  EXPECT_THROW(gradcheck(cube(Fault::none), {wave({1})}, {.order = 0}), ValueError);
}

TEST(Gradcheck, FunctionThatDrawsAnewIsToldSo) {
  Rng rng(1);
  const auto f = [&](const List& in) { return in[0] * rng.uniform(); };
  const GradcheckResult result = gradcheck(f, {wave({2})});
  EXPECT_FALSE(result);
  EXPECT_THAT(result.message(), HasSubstr("other values for the same inputs"));
}

TEST(Gradcheck, UnusedInputHasZeroGradient) {
  const auto f = [](const List& in) { return square(in[0]); };
  EXPECT_TRUE(gradcheck(f, {wave({2}), wave({3})}, {.order = 2}));
  EXPECT_TRUE(gradcheck([](const List&) { return ones({2}, f64); }, {wave({3})}, {.order = 2}));
}

TEST(Gradcheck, InputThatIsReturnedIsChecked) {
  EXPECT_TRUE(gradcheck([](const List& in) { return in[0]; }, {wave({3})}, {.order = 2}));
  EXPECT_FALSE(gradcheck([](const List& in) { return in[0].detach(); }, {wave({3})}));
}

TEST(Gradcheck, AbsentInputIsPassedOnAbsent) {
  const auto f = [](const List& in) { return in[1].defined() ? in[0] + in[1] : in[0] * 2.0; };
  const GradcheckResult result = gradcheck(f, {wave({2}), Tensor(), wave({3})}, {.order = 2});
  EXPECT_TRUE(result);
  EXPECT_EQ(result.checked, 2 + 3 + 2);
}

TEST(Gradcheck, InputsAreNotChangedAndNothingLives) {
  const Tensor x = wave({2, 3});
  Tensor leaf = wave({3}, 1).requires_grad_();
  const std::vector<double> before = x.to_vector(), leaf_before = leaf.to_vector();
  const std::uint32_t version = x.storage()->version();
  const std::int64_t nodes = live_nodes(), bytes = live_bytes();
  EXPECT_TRUE(gradcheck([](const List& in) { return in[0] * in[1]; }, {x, leaf}, {.order = 2}));
  EXPECT_EQ(live_nodes(), nodes);
  EXPECT_EQ(live_bytes(), bytes);
  EXPECT_EQ(x.to_vector(), before);
  EXPECT_EQ(leaf.to_vector(), leaf_before);
  EXPECT_EQ(x.storage()->version(), version);
  EXPECT_FALSE(x.requires_grad());
  EXPECT_FALSE(leaf.grad().defined());
}

TEST(Gradcheck, WorksUnderNoGradAndLeavesTheModeAlone) {
  const NoGrad quiet;
  EXPECT_TRUE(gradcheck(cube(Fault::none), {wave({2})}, {.order = 2}));
  EXPECT_FALSE(grad_enabled());
}

TEST(Gradcheck, SeedAndStepAreTheCallers) {
  const auto at = [](GradcheckOptions options) {
    return gradcheck(cube(Fault::none), {wave({1})}, options).analytic;
  };
  EXPECT_EQ(at({}), at({}));
  EXPECT_NE(at({}), at({.seed = 1}));
  EXPECT_FALSE(gradcheck(cube(Fault::none), {wave({1})}, {.eps = 0.5}));  // x³ bends too much
}

}  // namespace
}  // namespace heed
