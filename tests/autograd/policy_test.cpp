// Where frameworks disagree: what heed does at kinks, at nothing and at the edges. Most rows of the
// table of policies in docs/design.md are cases with a number, in tests/cases; these are the
// others.
//
//   softmax of -inf ......... N02              mean, max of nothing .... here, op table
//   masks ................... L06, here        ids out of range ........ S12, op table
//   causal alignment ........ L02, here        all targets ignored ..... L13, here
//   attention scale ......... L01, op table    unrelated gradient ...... Engine.UnusedInput...
//   no bias of w_k .......... MultiHeadAttention tests
//   backward selects ........ N09              non-scalar backward ..... Engine.SeveralElements...
//   kinks and ties .......... N14, here        optimizers, schedules ... O cases, tests/train
//   pow, sqrt, norm ......... N11, N12, here   clipping, accumulation .. O cases, tests/train
//   gelu .................... N16, here        number of threads ....... threads_test
//   sums .................... N20, N22, here
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heed/autograd/autograd.h>

#include <cmath>

#include "support.h"

namespace heed {
namespace {

using testing::AllOf;
using testing::DoubleEq;
using testing::ElementsAre;
using testing::HasSubstr;

template <class F>
std::vector<double> slopes(F f, std::vector<double> at) {
  const Tensor x = leaf(std::move(at));
  return grad(sum(f(x)), x).to_vector();
}

// ---- kinks

TEST(Policy, ActivationsAtZero) {
  EXPECT_THAT(slopes([](const Tensor& x) { return relu(x); }, {-1, 0, 1}), ElementsAre(0, 0, 1));
  EXPECT_THAT(slopes([](const Tensor& x) { return abs(x); }, {-1, 0, 1}), ElementsAre(-1, 0, 1));
  EXPECT_THAT(slopes([](const Tensor& x) { return leaky_relu(x, .2); }, {-1, 0, 1}),
              ElementsAre(.2, .2, 1));
  EXPECT_THAT(slopes([](const Tensor& x) { return elu(x, 2); }, {0, 1}), ElementsAre(2, 1));
}

TEST(Policy, AbsoluteLossAtZero) {
  const Tensor zero = zeros({4}, f64);
  EXPECT_THAT(slopes([&](const Tensor& x) { return 4 * l1_loss(x, zero); }, {-1, 0, -0., 1}),
              ElementsAre(-1, 0, 0, 1));
}

TEST(Policy, ChoosingBetweenTwoKeepsInfiniteGradientsApart) {
  const Tensor a = leaf({1, 2}), b = leaf({3, 4});
  const auto of = [&](const Tensor& y, const Tensor& x) {
    return grad(y, x, {.seed = tensor({infinity, 5}, {2}, f64)}).to_vector();
  };
  const Mask first = mask({true, false}, {2});
  EXPECT_THAT(of(where(first, a, b), a), ElementsAre(infinity, 0));
  EXPECT_THAT(of(where(first, a, b), b), ElementsAre(0, 5));
  EXPECT_THAT(of(masked_fill(a, first, -infinity), a), ElementsAre(0, 5));
}

TEST(Policy, ClampPassesAtItsBounds) {
  EXPECT_THAT(slopes([](const Tensor& x) { return clamp(x, -1, 2); }, {-1.5, -1, 0, 2, 2.5}),
              ElementsAre(0, 1, 1, 1, 0));
}

TEST(Policy, ClampTakesAnIntervalOfOneNumber) {
  EXPECT_THAT(clamp(leaf({1, 2, 3}), 2, 2).to_vector(), ElementsAre(2, 2, 2));
}

TEST(Policy, Log1pIsExactForSmallNumbers) {
  EXPECT_EQ(log1p(leaf({1e-20})).item(), 1e-20);
  EXPECT_FLOAT_EQ(static_cast<float>(log1p(full({}, 1e-10, f32)).item()), 1e-10F);
}

TEST(Policy, ExpReachesTheEndsOfSingles) {
  const Tensor y = exp(tensor({88.5, -90, -103}, {3}, f32));
  for (const auto& [i, at] : {std::pair{0, 88.5}, {1, -90.}})
    EXPECT_NEAR(y.to_vector()[static_cast<std::size_t>(i)] / std::exp(at), 1, 1e-5) << at;
  EXPECT_GT(y.to_vector()[2], 0);
}

TEST(Policy, GeluHasItsSlopeAroundItsZeroInSingle) {
  const auto slope = [](const Tensor& x) {
    return grad(gelu(x), x, {.seed = ones(x.shape(), x.dtype())}).to_vector();
  };
  Tensor x = tensor({-.76, -.7525, -.7519, -.7518, -.7517, -.751, -.74}, {7}, f32);
  const std::vector<double> in_single = slope(x.requires_grad_());
  const std::vector<double> in_double = slope(x.detach().to(f64).requires_grad_());
  for (std::size_t i = 0; i < in_single.size(); ++i)
    EXPECT_NEAR(in_single[i] / in_double[i], 1, 1e-5) << x.to_vector()[i];
}

TEST(Policy, SqrtHasAnInfiniteSlopeAtZero) {
  EXPECT_THAT(slopes([](const Tensor& x) { return sqrt(x); }, {0, 4}), ElementsAre(INFINITY, .25));
}

TEST(Policy, HuberIsOneCurve) {
  const Tensor zero = zeros({3}, f64);
  EXPECT_THAT(slopes([&](const Tensor& x) { return 3 * huber_loss(x, zero, 1.5); }, {1.5, -1.5, 0}),
              ElementsAre(1.5, -1.5, 0));
}

TEST(Policy, NormOfAZeroVectorHasZeroDerivatives) {
  const Tensor x = tensor({0, 0, 3, 4}, {2, 2}, f64).requires_grad_();
  const Tensor first = grad(norm(x, -1), x, {.create_graph = true, .seed = ones({2}, f64)});
  EXPECT_THAT(first.to_vector(), ElementsAre(0, 0, DoubleEq(.6), DoubleEq(.8)));
  const Tensor second = grad(sum(first * tensor({1, 2, 1, 0}, {2, 2}, f64)), x);
  EXPECT_THAT(second.to_vector(), ElementsAre(0, 0, DoubleEq(16. / 125), DoubleEq(-12. / 125)));
}

TEST(Policy, NormOfAZeroVectorHasNoNanInASecondGradient) {
  const Tensor x = tensor({0, 0, 3, 4}, {2, 2}, f64).requires_grad_();
  const Tensor first = grad(sum(square(norm(x, -1))), x, {.create_graph = true});
  EXPECT_THAT(first.to_vector(), ElementsAre(0, 0, DoubleEq(6), DoubleEq(8)));
  const Tensor second = grad(sum(first), x);
  EXPECT_THAT(second.to_vector(), ElementsAre(0, 0, DoubleEq(2), DoubleEq(2)));
}

TEST(Policy, NormOfAZeroVectorHasNoNanInTheGradientOfACotangent) {
  const Tensor x = tensor({0, 0, 3, 4}, {2, 2}, f64).requires_grad_(), v = leaf({1, 1});
  const Tensor first = grad(norm(x, -1), x, {.create_graph = true, .seed = v});
  EXPECT_THAT(grad(sum(first), v).to_vector(), ElementsAre(0, DoubleEq(1.4)));
}

TEST(Policy, ARowWithAnInfiniteElementHasNoSoftmax) {
  for (const DType dtype : {f32, f64})
    for (const auto f : {softmax, log_softmax})
      for (const double p : f(tensor({infinity, 1, -infinity}, {3}, dtype), -1).to_vector())
        EXPECT_TRUE(std::isnan(p));
}

TEST(Policy, ARowWithAnInfiniteLogitHasNoCrossEntropy) {
  for (const DType dtype : {f32, f64})
    for (const std::int64_t target : {0, 1}) {
      const Tensor x = tensor({1, infinity, 2}, {1, 3}, dtype).requires_grad_();
      const Tensor loss = cross_entropy(x, tokens({target}, {1}));
      EXPECT_TRUE(std::isnan(loss.item()));
      for (const bool create_graph : {false, true})
        for (const double d : grad(loss, x, {create_graph, true}).to_vector())
          EXPECT_TRUE(std::isnan(d));
    }
}

TEST(Policy, InfiniteInputsHaveTheirLimits) {
  EXPECT_EQ(logsumexp(tensor({infinity, 1}, {2}, f64)).item(), infinity);
  EXPECT_TRUE(std::isnan(logsumexp(tensor({infinity, NAN}, {2}, f64)).item()));
  const Tensor zero = zeros({}, f64), exponent = full({}, -1, f64).requires_grad_();
  EXPECT_EQ(grad(pow(zero, exponent), exponent).item(), 0);
  const Tensor far = tensor({-1e200, 1e200}, {2}, f64).requires_grad_();
  EXPECT_EQ(grad(gelu(far, Gelu::tanh), far, {.seed = ones({2}, f64)}).to_vector(),
            (std::vector<double>{0, 1}));
}

TEST(Policy, TheLargestOfARowMayBeItsLast) {
  std::vector<double> values(19, -1000);  // more than a vector's lanes, and some that remain
  values.back() = 1000;
  const Tensor row = leaf(values);
  EXPECT_EQ(softmax(row).to_vector().back(), 1);
  EXPECT_EQ(logsumexp(row).item(), 1000);
}

TEST(Policy, WholePowersOfNegativeNumbers) {
  EXPECT_THAT(pow(leaf({-2, 0}), -2).to_vector(), ElementsAre(.25, INFINITY));
  EXPECT_THAT(slopes([](const Tensor& x) { return pow(x, -1); }, {-2}), ElementsAre(-.25));
  EXPECT_TRUE(std::isnan(pow(leaf({-2}), .5).item()));
}

TEST(Policy, GeluIsTheExactOneUnlessAsked) {
  const Tensor x = tensor({-2, -.5, 1, 3}, {4}, f64);
  EXPECT_EQ(gelu(x).to_vector(), gelu(x, Gelu::erf).to_vector());
  EXPECT_NE(gelu(x).to_vector(), gelu(x, Gelu::tanh).to_vector());
}

// ---- sums of singles: 2^24 + 1 is 2^24 in f32

TEST(Policy, SquaresAreSummedInDouble) {
  std::vector<double> values(1024, 1.);
  values.front() = 4096;
  const double squares = 4096. * 4096 + 1023;
  EXPECT_FLOAT_EQ(static_cast<float>(norm(tensor(values, {1024}, f32)).item()),
                  static_cast<float>(std::sqrt(squares)));
  for (std::size_t i = 0; i < 512; ++i) values[512 + i] = -values[i];  // mean 0
  EXPECT_FLOAT_EQ(static_cast<float>(var(tensor(values, {1024}, f32), {}, false, 0).item()),
                  static_cast<float>((2. * 4096 * 4096 + 1022) / 1024));
}

// ---- not a number

TEST(Policy, NanIsNotLostOnTheWay) {
  const Tensor nan = tensor({NAN, 1}, {2}, f64), other = tensor({1, NAN}, {2}, f64);
  const auto is_nan = [](const Tensor& x, std::size_t i) { return std::isnan(x.to_vector()[i]); };
  for (const Tensor& y : {maximum(nan, other), minimum(nan, other)}) {
    EXPECT_TRUE(is_nan(y, 0));
    EXPECT_TRUE(is_nan(y, 1));
  }
  for (const Tensor& y : {relu(nan), leaky_relu(nan), elu(nan), clamp(nan, 0, 1), abs(nan)})
    EXPECT_TRUE(is_nan(y, 0));
  for (const Tensor& y : {amax(nan), amax(other), amin(nan), max(nan, 0).values, sum(nan)})
    EXPECT_TRUE(std::isnan(y.item()));
  for (const Tensor& y : {softmax(nan), log_softmax(nan)}) EXPECT_TRUE(is_nan(y, 1));
  const Tensor beside = tensor({-infinity, NAN}, {2}, f64);
  for (const Tensor& y : {softmax(beside), log_softmax(beside)}) EXPECT_TRUE(is_nan(y, 1));
  EXPECT_TRUE(std::isnan(logsumexp(beside).item()));
  EXPECT_THAT(argmax(other, 0).to_vector(), ElementsAre(1));
}

TEST(Policy, NanIsUnequalToAllAndInNoOrder) {
  const Tensor nan = tensor({NAN, NAN}, {2}, f64), other = tensor({NAN, 1}, {2}, f64);
  for (const Mask& m : {nan<other, nan> other, nan <= other, nan >= other, nan == other,
                        nan<1, nan> 1, nan <= 1, nan >= 1, nan == 1})
    EXPECT_EQ(m.count(), 0);
  EXPECT_EQ((nan != other).count(), 2);
  EXPECT_EQ((nan != 1).count(), 2);
}

// ---- numbers beside tensors

TEST(Policy, NumbersKeepTheirDigitsBesideDoubles) {
  EXPECT_EQ((leaf({.1}) == .1).count(), 1);
  EXPECT_EQ(pow(leaf({2}), .1).item(), std::pow(2., .1));
  EXPECT_EQ((leaf({1}) + .1).item(), 1.1);
}

// ---- nothing

TEST(Policy, SumOfNothingIsZeroAndNoMoreIsMadeOfNothing) {
  EXPECT_EQ(sum(zeros({0})).item(), 0);
  EXPECT_EQ(norm(zeros({0})).item(), 0);
  for (const auto& reduce :
       {+[](const Tensor& x) { return mean(x); }, +[](const Tensor& x) { return amax(x); },
        +[](const Tensor& x) { return amin(x); }, +[](const Tensor& x) { return logsumexp(x); },
        +[](const Tensor& x) { return var(x); }, +[](const Tensor& x) { return max(x, 1).values; }})
    EXPECT_THAT(error_of<ShapeError>([&] { reduce(zeros({3, 0})); }), HasSubstr("(3, 0)"));
  EXPECT_EQ(mean(zeros({0, 3}), 1).shape(), Shape{0});
}

// ---- second thoughts about inputs

TEST(Policy, InputsOfAnOpMayDependOnEachOther) {
  const auto normalized = [](const std::vector<Tensor>& in) {
    const Tensor w = exp(in[0]);
    return layer_norm(in[0], w, w * in[0], .1);
  };
  const auto mapped = [](const std::vector<Tensor>& in) {
    return linear(in[0], in[0] * in[0], slice(reshape(in[0], {9}), 0, 0, 3));
  };
  Rng rng(1);
  EXPECT_TRUE(gradcheck(normalized, {normal({4}, rng, 0, 1, f64)}, {.order = 2}));
  EXPECT_TRUE(gradcheck(mapped, {normal({3, 3}, rng, 0, 1, f64)}, {.order = 2}));
}

TEST(Policy, TheSameTensorMayBeEveryInput) {
  Rng rng(1);
  const Tensor square_matrix = normal({3, 3}, rng, 0, 1, f64);
  EXPECT_TRUE(gradcheck([](const auto& in) { return linear(in[0], in[0]); }, {square_matrix},
                        {.order = 2}));
  EXPECT_TRUE(gradcheck([](const auto& in) { return layer_norm(in[0], in[0], in[0], .1); },
                        {normal({4}, rng, 0, 1, f64)}, {.order = 2}));
  EXPECT_TRUE(gradcheck(
      [](const auto& in) { return attention(in[0], in[0], in[0], {.heads = 2, .causal = true}); },
      {normal({1, 3, 4}, rng, 0, 1, f64)}, {.order = 2}));
}

// ---- masks

TEST(Policy, TrueMeansHiddenAndTheLastQuerySeesAll) {
  EXPECT_THAT(causal_mask(2, 3).to_vector(), ElementsAre(false, false, true, false, false, false));
  EXPECT_EQ(causal_mask(1, 4).count(), 0);
  const Tensor scores = zeros({3}, f64);
  EXPECT_THAT(softmax(masked_fill(scores, mask({false, true, false}, {3}), -infinity)).to_vector(),
              ElementsAre(.5, 0, .5));
}

TEST(Policy, IgnoredTargetsMayHaveAnyLogits) {
  const Tensor x = tensor({NAN, infinity, -infinity, 1, 2, 3}, {2, 3}, f64).requires_grad_();
  const Tokens targets = tokens({kIgnore, 2}, {2});
  const Tensor loss = cross_entropy(x, targets);
  EXPECT_NEAR(loss.item(), .40760596444438, 1e-12);
  const std::vector<double> dx = grad(loss, x).to_vector();
  EXPECT_THAT(std::vector(dx.begin(), dx.begin() + 3), ElementsAre(0, 0, 0));
}

TEST(Policy, TrainingScopesNest) {
  Rng outer(1), inner(2);
  const Training scope(outer);
  {
    const Training within(inner);
    EXPECT_EQ(Training::rng(), &inner);
  }
  EXPECT_EQ(Training::rng(), &outer);
}

TEST(Policy, ErrorsOfEveryKindAreErrors) {
  const auto is_error = [](auto f) { return !error_of<Error>(f).empty(); };
  EXPECT_TRUE(is_error([] { zeros({2}) + zeros({3}); }));
  EXPECT_TRUE(is_error([] { zeros({2}, f32) + zeros({2}, f64); }));
  EXPECT_TRUE(is_error([] { embedding(zeros({2, 2}), tokens({2}, {1})); }));
  EXPECT_TRUE(is_error([] { backward(zeros({})); }));
  EXPECT_TRUE(is_error([] { clamp(zeros({2}), 1, 0); }));
}

}  // namespace
}  // namespace heed
