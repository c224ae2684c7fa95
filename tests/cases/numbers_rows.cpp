// Cases of numbers: softmax, norms and sums over rows.
#include "values.h"

namespace heed::cases {
namespace {

TEST(Cases, N01_HiddenEntryOfASoftmaxRow) {
  const Tensor x = leaf({0, -infinity, 0});
  const Tensor y = softmax(x);
  expect_values(y, {.5, 0, .5});
  expect_values(gradient(y, x, {1, 0, 0}), {.25, 0, -.25});
}

TEST(Cases, N02_RowWithNothingLeft) {
  for (const DType dtype : {f64, f32}) {
    const Tensor x = leaf({-infinity, -infinity, -infinity}, dtype);
    const Tensor p = softmax(x), log_p = log_softmax(x), whole = logsumexp(x);
    expect_values(p, {0, 0, 0});
    expect_values(gradient(p, x, {1, 2, 3}), {0, 0, 0});
    expect_values(log_p, {-infinity, -infinity, -infinity});
    expect_values(gradient(log_p, x, {1, 2, 3}), {0, 0, 0});
    expect_values(whole, {-infinity});
    expect_values(gradient(whole, x, {1}), {0, 0, 0});
  }
}

TEST(Cases, N02_SecondGradientOfARowWithNothingLeftIsZero) {
  const auto second = [](const Tensor& y, const Tensor& x) {
    const Tensor dx = grad(y, x, {.create_graph = true, .seed = ones(y.shape(), y.dtype())});
    return gradient(dx, x, {1, 2, 3});
  };
  const Tensor x = leaf({-infinity, -infinity, -infinity});
  expect_values(second(softmax(x), x), {0, 0, 0});
  expect_values(second(log_softmax(x), x), {0, 0, 0});
  expect_values(second(logsumexp(x), x), {0, 0, 0});
}

TEST(Cases, N05_LargeLogitsInSingle) {
  const Tensor x = tensor({10000, 10001, 10002, 10003}, {4}, f32);
  expect_values(softmax(x), {.03205860, .08714432, .23688282, .64391426});
  expect_values(softmax(x.to(f64)),
                {.03205860328008499, .08714431874203257, .23688281808991016, .6439142598879724});
  expect_values(logsumexp(x), {10003.4401897});
  expect_values(softmax(-1 * x), {.64391426, .23688282, .08714432, .03205860});
}

TEST(Cases, N07_LogSoftmaxWhereTheSoftmaxUnderflows) {
  const Tensor x = leaf({0, -200}, f32);
  const Tensor y = log_softmax(x);
  expect_values(y, {0, -200});
  expect_values(gradient(y, x, {0, 1}), {-1, 1});
  const Tensor loss = cross_entropy(reshape(x, {1, 2}), tokens({1}, {1}));
  expect_values(loss, {200});
  expect_values(grad(loss, x), {1, -1});
}

TEST(Cases, N11_NormOfAZeroVector) {
  const Tensor x = leaf({0, 0, 0, 1, 2, 2}, {2, 3});
  const Tensor y = norm(x, -1);
  expect_values(y, {0, 3});
  expect_values(gradient(y, x, {1, 1}), {0, 0, 0, 1. / 3, 2. / 3, 2. / 3});
}

TEST(Cases, N14_TiesShareTheGradientOrTheFirstTakesIt) {
  const Tensor x = leaf({1, 3, 3, 2});
  expect_values(grad(amax(x), x), {0, .5, .5, 0});
  expect_values(grad(max(x, 0).values, x), {0, 1, 0, 0});
  expect_values(grad(amin(-x), x), {0, -.5, -.5, 0});
  const Tensor a = leaf({1, 2}), b = leaf({1, 3});
  for (const Tensor& y : {maximum(a, b), -minimum(-a, -b)}) {
    const auto grads = gradients(y, {a, b}, {1, 1});
    expect_values(grads[0], {.5, 0});
    expect_values(grads[1], {.5, 1});
  }
}

TEST(Cases, N19_LayerNormOfAConstantRow) {
  const Tensor x = leaf({2, 2, 2, 2});
  const Tensor y = layer_norm(x);
  expect_values(y, {0, 0, 0, 0});
  const double rstd = 1 / std::sqrt(1e-5);
  const std::vector<double> expected = {-1.5 * rstd, -.5 * rstd, .5 * rstd, 1.5 * rstd};
  EXPECT_NEAR(expected[3], 474.341649, 1e-6);
  expect_values(gradient(y, x, {1, 2, 3, 4}), expected);
  expect_values(
      grad(layer_norm(x), x, {.create_graph = true, .seed = tensor({1, 2, 3, 4}, {4}, f64)}),
      expected);
}

TEST(Cases, N20_LayerNormFarFromZeroInSingle) {
  const Tensor x = tensor({10000, 10001, 10002, 10003}, {4}, f32);
  expect_values(layer_norm(x), {-1.34163542, -.447211807, .447211807, 1.34163542});
  expect_values(var(x), {5. / 3});
}

// The mean is no f32 here, and what rounding takes from it is not small beside the row.
TEST(Cases, N20_LayerNormOfARowWhoseMeanIsRounded) {
  for (const double base : {1e4, 1e5, 1e6}) {
    const Tensor x = tensor({base, base + 1, base + 3}, {3}, f32);
    const std::vector<double> expected{-1.06904242, -.267260604, 1.33630302};
    expect_values(layer_norm(x), expected);
    expect_values(var(x), {7. / 3});
    const Tensor in = x.clone().requires_grad_();
    const Tensor g = tensor({1, 2, -1}, {3}, f32);
    const std::vector<double> kernel = grad(layer_norm(in), in, {.seed = g}).to_vector();
    expect_values(grad(layer_norm(in), in, {.create_graph = true, .seed = g}), kernel);
    const Tensor near = tensor({0, 1, 3}, {3}, f64).requires_grad_();
    expect_values(grad(layer_norm(in), in, {.seed = g}),
                  grad(layer_norm(near), near, {.seed = g.to(f64)}).to_vector());
  }
}

TEST(Cases, N22_SumsThatStick) {
  expect_values(mean(ones({20'000'000}, f32)), {1});
  std::vector<double> values(1026, 1.);
  values.front() = 1e8;
  values.back() = -1e8;
  EXPECT_EQ(sum(tensor(values, {1026}, f32)).item(), 1024);
  EXPECT_EQ(sum(tensor(values, {1026, 1}, f32), 0).item(), 1024);
  Tensor columns = concat({tensor(values, {1026, 1}, f32), tensor(values, {1026, 1}, f32)}, 1);
  EXPECT_EQ(sum(columns, 0).to_vector(), (std::vector<double>{1024, 1024}));
  EXPECT_EQ(sum_to(columns, {2}).to_vector(), (std::vector<double>{1024, 1024}));
  EXPECT_EQ(cumsum(tensor(values, {1026}, f32), 0).to_vector().back(), 1024);
}

}  // namespace
}  // namespace heed::cases
