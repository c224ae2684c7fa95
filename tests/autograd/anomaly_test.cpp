// DetectAnomaly names the op, and the parameter nearest to it, where the first number that is not
// finite came from.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heed/autograd/autograd.h>

#include <cmath>
#include <functional>

namespace heed {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

Tensor leaf(std::vector<double> values) {
  const Shape shape{static_cast<std::int64_t>(values.size())};
  return tensor(std::move(values), shape, f64).requires_grad_();
}

std::string complaint(const std::function<void()>& run, Parameters names = {}) {
  const DetectAnomaly scope(std::move(names));
  try {
    run();
  } catch (const NonFinite& error) {
    return error.what();
  }
  return "nothing was found";
}

TEST(Anomaly, NamesTheFirstOpWhoseValueIsNotFinite) {
  const Tensor a = leaf({1, 2, 800}), b = leaf({1, 1, 1});
  const auto run = [&] { (void)(square(exp(a * b)) - 1.0); };
  EXPECT_THAT(complaint(run, {{"first", a}, {"second", b}}),
              HasSubstr("exp: its output of shape (3) is inf at (2), though every input is finite; "
                        "the nearest parameter is first, 1 op away"));
  EXPECT_THAT(complaint(run), Not(HasSubstr("parameter")));
  EXPECT_NO_THROW(run());
}

TEST(Anomaly, NearestParameterIsTheOneWithTheFewestOpsBetween) {
  const Tensor far = leaf({1, 1}), near = leaf({-1, 1});
  EXPECT_THAT(
      complaint([&] { (void)log(exp(square(far)) * near); }, {{"far", far}, {"near", near}}),
      AllOf(HasSubstr("log: its output of shape (2) is nan at (0)"),
            HasSubstr("the nearest parameter is near, 1 op away")));
  EXPECT_THAT(complaint([&] { (void)log(near); }, {{"far", far}, {"near", near}}),
              HasSubstr("the nearest parameter is near"));
}

TEST(Anomaly, ParameterThatIsNanItselfIsNamed) {
  const Tensor w = leaf({1, std::nan("")});
  EXPECT_THAT(complaint([&] { (void)(w * 2.0); }, {{"w", w}}),
              AllOf(HasSubstr("its input 0 of shape (2) is nan at (1)"),
                    HasSubstr("no op made it so"), HasSubstr("parameter is w")));
}

TEST(Anomaly, NamesTheOpWhoseGradientIsNotFinite) {
  const Tensor x = leaf({4, 0});
  EXPECT_THAT(
      complaint([&] { backward(sum(sqrt(x * 1.0))); }, {{"x", x}}),
      AllOf(HasSubstr("sqrt: the gradient of its input 0 of shape (2) is inf at (1), though "
                      "that of its output is finite"),
            HasSubstr("the nearest parameter is x, 1 op away")));
  EXPECT_FALSE(x.grad().defined());
  EXPECT_THAT(complaint([&] { (void)grad(sum(sqrt(x * 1.0)), x, {.create_graph = true}); }),
              HasSubstr("sqrt: the gradient"));
}

TEST(Anomaly, SeedAndOverflowingSumAreNamedAsSuch) {
  const Tensor x = leaf({1, 2});
  EXPECT_THAT(complaint([&] {
                backward(square(x), {.seed = tensor({1, infinity}, {2}, f64)});
              }),
              HasSubstr("square: the gradient that reaches its output of shape (2) is inf at (1)"));
  EXPECT_THAT(complaint([&] {
                const Tensor y = x * 1e-3;
                backward(sum(y * 1e308) + sum(y * 1e308));
              }),
              HasSubstr("a seed, or a sum of finite gradients"));
}

TEST(Anomaly, InfinityThatIsMeantAndWhatIsMadeOfItPass) {
  const Tensor scores = tensor({1, 2, 3, 4}, {2, 2}, f64).requires_grad_();
  const Mask hidden = mask({false, true, true, true}, {2, 2});
  const auto run = [&] {
    const Tensor masked = masked_fill(scores, hidden, -infinity);
    backward(sum(square(softmax(masked)) + softmax(where(hidden, masked, scores))),
             {.retain_graph = true});
    backward(sum(logsumexp(masked, 0) * 2.0));
  };
  EXPECT_EQ(complaint(run), "nothing was found");
  EXPECT_THAT(complaint([&] { (void)(masked_fill(scores, hidden, -infinity) * 0.0); }),
              HasSubstr("is nan at (0, 1), though no input is NaN"));
}

TEST(Anomaly, EndsWithItsScopeAndNests) {
  const Tensor x = leaf({-1});
  {
    const DetectAnomaly outer({{"outer", x}});
    {
      const DetectAnomaly inner({{"inner", x}});
      EXPECT_THROW(log(x), NonFinite);
    }
    try {
      (void)log(x);
      ADD_FAILURE() << "the outer one is gone";
    } catch (const NonFinite& error) {
      EXPECT_THAT(error.what(), HasSubstr("outer"));
    }
  }
  EXPECT_NO_THROW(log(x));
}

TEST(Anomaly, AbsentInputIsPassedOver) {
  const Tensor x = tensor({1, 2}, {1, 2}, f64).requires_grad_();
  EXPECT_EQ(complaint([&] {
              backward(sum(linear(x, tensor({3, 4}, {2, 1}, f64), Tensor())));
            }),
            "nothing was found");
}

TEST(Anomaly, NameOfAnUndefinedTensorIsPassedOver) {
  const Tensor x = leaf({0});
  EXPECT_THAT(complaint([&] { backward(sqrt(x)); }, {{"none", Tensor()}, {"x", x}}),
              HasSubstr("sqrt: the gradient of its input 0"));
}

TEST(Anomaly, ListsOfInputsAreLookedAt) {
  const Tensor x = leaf({1, 2}), y = leaf({std::nan("")});
  EXPECT_THAT(complaint(
                  [&] {
                    (void)concat({x, y}, 0);
                  },
                  {{"x", x}, {"y", y}}),
              AllOf(HasSubstr("concat: its input 1"), HasSubstr("parameter is y")));
}

}  // namespace
}  // namespace heed
