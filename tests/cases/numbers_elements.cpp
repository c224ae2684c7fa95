// Cases of numbers: functions of single elements, and choices between them.
#include "values.h"

namespace heed::cases {
namespace {

TEST(Cases, N03_LowScoresAreNotOvertakenByWhatIsHidden) {
  for (const DType dtype : {f64, f32}) {
    const Tensor q = tensor({-20000}, {1, 1, 1, 1}, dtype);
    const Tensor k = tensor({1, 0}, {1, 1, 2, 1}, dtype), v = tensor({1, 100}, {1, 1, 2, 1}, dtype);
    const Mask hidden = mask({false, true}, {2});
    EXPECT_EQ(scaled_dot_product_attention(q, k, v, {.hidden = hidden, .scale = 1.0}).item(), 1.0);
  }
}

TEST(Cases, N09_AnInfiniteGradientStaysOnItsSide) {
  const Tensor a = leaf({1}), b = leaf({2});
  const auto grads = gradients(where(mask({true}, {1}), a, b), {a, b}, {infinity});
  expect_values(grads[0], {infinity});
  expect_values(grads[1], {0});
  const Tensor x = leaf({1, 2});
  expect_values(gradient(masked_fill(x, mask({true, false}, {2}), 0), x, {infinity, 3}), {0, 3});
}

TEST(Cases, N09_EveryOpThatChoosesKeepsAnInfiniteGradientOut) {
  const auto at = [](double v, Tensor (*f)(const Tensor&)) {
    const Tensor x = leaf({v});
    return gradient(f(x), x, {infinity}).item();
  };
  EXPECT_EQ(at(-1, relu), 0);
  EXPECT_EQ(at(0, relu), 0);
  EXPECT_EQ(at(0, abs), 0);
  EXPECT_EQ(at(5, [](const Tensor& x) { return clamp(x, 0, 1); }), 0);
  EXPECT_EQ(at(1, [](const Tensor& x) { return maximum(x, full({1}, 2, f64)); }), 0);
  EXPECT_EQ(at(3, [](const Tensor& x) { return minimum(x, full({1}, 2, f64)); }), 0);
  const Tensor x = leaf({1, 2});
  expect_values(gradient(amax(x), x, {infinity}), {0, infinity});
}

TEST(Cases, N12_PowersDoNotGoThroughTheLogarithm) {
  const Tensor x = leaf({0, 2});
  const auto dx = [&](double exponent) { return gradient(pow(x, exponent), x, {1, 1}); };
  expect_values(pow(x, 2), {0, 4});
  expect_values(dx(2), {0, 4});
  expect_values(pow(x, 1), {0, 2});
  expect_values(dx(1), {1, 1});
  expect_values(pow(x, 0), {1, 1});
  expect_values(dx(0), {0, 0});

  const Tensor negative = leaf({-2});
  expect_values(pow(negative, 3), {-8});
  expect_values(gradient(pow(negative, 3), negative, {1}), {12});

  const Tensor a = leaf({0, 2}), b = leaf({1, 1});
  const auto grads = gradients(pow(a, b), {a, b}, {1, 1});
  expect_values(grads[0], {1, 1});
  expect_values(grads[1], {0, 2 * std::log(2.)});
}

TEST(Cases, N12_SecondGradientsOfPowersAtZero) {
  const Tensor x = leaf({0, 2});
  const auto second = [&](const Tensor& y) {
    const Tensor dx = grad(y, x, {.create_graph = true, .seed = ones({2}, f64)});
    return gradient(dx, x, {1, 1});
  };
  expect_values(second(pow(x, 3)), {0, 12});
  expect_values(second(pow(x, 2)), {2, 2});
  expect_values(second(pow(x, 1)), {0, 0});
  expect_values(second(pow(x, 0)), {0, 0});
  expect_values(second(pow(x, full({2}, 2, f64))), {2, 2});
  expect_values(second(pow(x, full({2}, 0, f64))), {0, 0});
}

TEST(Cases, N16_GeluDoesNotCancelInSingle) {
  const Tensor x = leaf({-6}, f32);
  expect_values(gelu(x, Gelu::tanh), {-8.43964670e-11});
  expect_values(gelu(x, Gelu::erf), {-5.91952587e-09});
}

double gelu_reference(double v, Gelu form) {
  if (form == Gelu::erf) return v * 0.5 * std::erfc(-v / std::sqrt(2.));
  return v / (1 + std::exp(-std::sqrt(8 / std::acos(-1.)) * (v + 0.044715 * v * v * v)));
}

double gelu_slope(double v, Gelu form) {
  if (form == Gelu::erf)
    return 0.5 * std::erfc(-v / std::sqrt(2.)) +
           v * std::exp(-v * v / 2) / std::sqrt(2 * std::acos(-1.));
  const double c = std::sqrt(8 / std::acos(-1.)), u = c * (v + 0.044715 * v * v * v);
  const double gate = 1 / (1 + std::exp(-u)), rest = 1 / (1 + std::exp(u));
  return gate + v * gate * rest * c * (1 + 3 * 0.044715 * v * v);
}

// The policy for the whole range: value and derivative to 1e-5, in f32, on [-10, 10], by the kernel
// and with a graph. Near -0.75 the derivative passes through zero: 1e-5 of 0.01 has to do there.
TEST(Cases, N16_GeluIsAccurateOverItsRangeInSingle) {
  std::vector<double> values;
  for (int i = -1000; i <= 1000; ++i) values.push_back(static_cast<float>(i / 100.));
  const Tensor x = leaf(values, f32);
  for (const Gelu form : {Gelu::erf, Gelu::tanh})
    for (const bool create_graph : {false, true}) {
      SCOPED_TRACE(text(form == Gelu::erf ? "erf" : "tanh", create_graph ? ", graph" : ""));
      const Tensor y = gelu(x, form);
      const Tensor dx = grad(y, x, {.create_graph = create_graph, .seed = ones(y.shape())});
      const std::vector<double> found = y.to_vector(), slopes = dx.to_vector();
      for (std::size_t i = 0; i < values.size(); ++i) {
        const double v = values[i], least = std::abs(v + 0.75) < 0.1 ? 0.01 : 1e-37;
        const auto tolerance = [&](double expected) {
          return 1e-5 * std::max(std::abs(expected), least);
        };
        const double value = gelu_reference(v, form), slope = gelu_slope(v, form);
        EXPECT_NEAR(found[i], value, tolerance(value)) << "gelu(" << v << ")";
        EXPECT_NEAR(slopes[i], slope, tolerance(slope)) << "derivative at " << v;
      }
    }
}

}  // namespace
}  // namespace heed::cases
