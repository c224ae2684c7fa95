// The kinds behind the cases of numbers, in every op that could have them.
#include <heed/tests/autograd/op_table.h>

#include <numbers>

#include "values.h"

namespace heed::cases {
namespace {

using Real = long double;

/// A function of one number, and its derivative, far out as well.
struct Curve {
  const char* name;
  Tensor (*op)(const Tensor&);
  Real (*value)(Real);
  Real (*slope)(Real);
  double farthest = infinity;  ///< where it is looked at; x times a gate is for finite x
};

/// x · p, where p goes to 0 faster than x goes to infinity.
Real times(Real x, Real p) { return p == 0 ? 0 : x * p; }

Real logistic(Real x) { return 1 / (1 + std::exp(-x)); }
Real logistic_slope(Real x) { return 1 / (std::exp(x) + 2 + std::exp(-x)); }
Real normal_cdf(Real x) { return std::erfc(-x / std::numbers::sqrt2_v<Real>) / 2; }
Real normal_density(Real x) {
  return std::exp(-x * x / 2) * std::numbers::inv_sqrtpi_v<Real> / std::numbers::sqrt2_v<Real>;
}
constexpr Real kTwoC = 2 * std::numbers::sqrt2_v<Real> * std::numbers::inv_sqrtpi_v<Real>;
Real gelu_gate(Real x) { return kTwoC * (x + 0.044715L * x * x * x); }

const std::vector<Curve> kCurves = {
    {"exp", exp, std::exp, std::exp},
    {"sigmoid", sigmoid, logistic, logistic_slope},
    {"tanh", tanh, std::tanh, [](Real x) { return 4 * logistic_slope(2 * x); }},
    {"erf", erf, std::erf,
     [](Real x) { return 2 * std::numbers::inv_sqrtpi_v<Real> * std::exp(-x * x); }},
    {"relu", relu, [](Real x) { return x > 0 ? x : 0; }, [](Real x) { return Real(x > 0); }},
    {"leaky_relu", [](const Tensor& x) { return leaky_relu(x, 0.25); },
     [](Real x) { return x > 0 ? x : x / 4; }, [](Real x) { return x > 0 ? 1 : Real(0.25); }},
    {"elu", [](const Tensor& x) { return elu(x, 1); },
     [](Real x) { return x > 0 ? x : std::expm1(x); },
     [](Real x) { return x > 0 ? 1 : std::exp(x); }},
    {"softplus", softplus,
     [](Real x) { return (x > 0 ? x : 0) + std::log1p(std::exp(-std::abs(x))); }, logistic},
    {"silu", silu, [](Real x) { return times(x, logistic(x)); },
     [](Real x) { return logistic(x) + times(x, logistic_slope(x)); }, 1e30},
    {"gelu", [](const Tensor& x) { return gelu(x); },
     [](Real x) { return times(x, normal_cdf(x)); },
     [](Real x) { return normal_cdf(x) + times(x, normal_density(x)); }, 1e30},
    {"gelu_tanh", [](const Tensor& x) { return gelu(x, Gelu::tanh); },
     [](Real x) { return times(x, logistic(gelu_gate(x))); },
     [](Real x) {
       return logistic(gelu_gate(x)) +
              times(x * kTwoC * (1 + 3 * 0.044715L * x * x), logistic_slope(gelu_gate(x)));
     },
     1e30},
};

/// The number as the type has it.
double rounded(Real x, DType dtype) {
  return dtype == f32 ? static_cast<double>(static_cast<float>(x)) : static_cast<double>(x);
}

void expect_close(double found, double expected, double relative, double absolute,
                  const std::string& what) {
  if (found == expected) return;
  EXPECT_LE(std::abs(found - expected), relative * std::abs(expected) + absolute)
      << what << " is " << found << ", expected " << expected;
  EXPECT_FALSE(std::isnan(found)) << what;
}

TEST(Kinds, N01_N05_N16_FarOutEveryCurveIsItsLimit) {
  for (const Curve& curve : kCurves)
    for (const DType dtype : {f64, f32})
      for (const double size :
           {0., 1e-30, 1e-6, 0.5, 5., 20., 80., 90., 700., 800., 1e4, 1e30, infinity})
        for (const double at : {size, -size}) {
          if (size > curve.farthest) continue;
          const Tensor x = leaf({at}, dtype);
          const Tensor y = curve.op(x);
          const Real point = x.item();
          const std::string where = text(curve.name, " at ", at, " in ", dtype);
          const double relative = dtype == f64 ? 1e-9 : 1e-5, tiny = dtype == f64 ? 1e-300 : 1e-37;
          expect_close(y.item(), rounded(curve.value(point), dtype), relative, tiny, where);
          const double slope = rounded(curve.slope(point), dtype);
          for (const bool graph : {false, true})
            expect_close(grad(y, x, {.create_graph = graph, .retain_graph = true}).item(), slope,
                         relative, relative / 10,
                         text("slope of ", where, graph ? " with a graph" : ""));
        }
}

TEST(Kinds, N16_Log1pKeepsSmallNumbers) {
  for (const DType dtype : {f64, f32}) {
    const Tensor x = leaf({1e-30, -1e-30, 1e-6}, dtype);
    expect_values(log1p(x), {1e-30, -1e-30, std::log1p(1e-6)});
    expect_values(gradient(log1p(x), x, {1, 1, 1}), {1, 1, 1 / (1 + 1e-6)});
  }
}

/// So many terms that f32 loses count if it adds them up one by one. Products of matrices and
/// repeated ids do add up in the type itself: fewer terms there, and less is promised.
constexpr std::int64_t kMany = 2'000'000, kFewer = 100'000;

TEST(Kinds, N22_LongSumsDoNotStick) {
  const auto tenth = [](const Shape& shape) { return full(shape, 0.1, f32); };
  const Tensor x = tenth({kMany}), none = zeros({kMany}, f32);
  const double n = static_cast<double>(kMany), v = x.to_vector()[0];
  const auto expect = [](const Tensor& y, double value, const char* what) {
    for (const double element : y.to_vector())
      ASSERT_NEAR(element, value, 1e-5 * std::abs(value)) << what;
  };
  expect(sum(x), n * v, "sum");
  expect(sum(tenth({kMany, 2}), 0), n * v, "sum of columns");
  expect(sum_to(tenth({kMany, 2}), {2}), n * v, "sum_to");
  expect(mean(x), v, "mean");
  expect(norm(x), std::sqrt(n) * v, "norm");
  expect(slice(cumsum(x, 0), 0, -1, kMany), n * v, "cumsum");
  expect(var(concat({x, none}), {}, false, 0), v * v / 4, "var");
  expect(logsumexp(none), std::log(n), "logsumexp");
  expect(softmax(none), 1 / n, "softmax");
  expect(log_softmax(none), -std::log(n), "log_softmax");
  expect(mse_loss(x, none), v * v, "mse_loss");
  expect(l1_loss(x, none), v, "l1_loss");
  expect(huber_loss(x, none), v * v / 2, "huber_loss");
  expect(binary_cross_entropy_with_logits(none, x), std::numbers::ln2, "binary_cross_entropy");
  expect(kl_div(none, x), v * std::log(v), "kl_div");
  const Tokens targets = tokens(std::vector<std::int64_t>(kMany, 1), {kMany});
  expect(cross_entropy(zeros({kMany, 2}), targets), std::numbers::ln2, "cross_entropy");
  expect(nll_loss(full({kMany, 2}, -0.1, f32), targets), v, "nll_loss");

  const auto slope = [](const Tensor& y, const Tensor& of, const Tensor& seed) {
    return grad(y, of, {.seed = seed});
  };
  const Tensor w = ones({1, 1}).requires_grad_(), b = ones({1}).requires_grad_();
  const Tensor column = tenth({kMany, 1}), more = ones({kMany, 1});
  expect(slope(linear(more, w, b), b, column), n * v, "gradient of a bias");
  expect(slope(more * b, b, column), n * v, "gradient of a broadcast factor");
  expect(slope(layer_norm(more, b, b), b, column), n * v, "gradient of a norm's bias");

  const double fewer = static_cast<double>(kFewer) * v;
  const Tensor part = tenth({kFewer, 1}), one = ones({kFewer, 1});
  const Tokens same = tokens(std::vector<std::int64_t>(kFewer, 0), {kFewer});
  for (const Tensor& y : {matmul(part, one, {.transpose_a = true}), slope(linear(one, w), w, part),
                          slope(embedding(w, same), w, part)})
    EXPECT_NEAR(y.item(), fewer, 1e-3 * fewer);
}

TEST(Kinds, N11_N19_NothingIsDividedByAZeroSpread) {
  for (const double at : {0., 2.}) {
    const Tensor x = full({2, 4}, at, f64).requires_grad_();
    const Tensor weight = ones({4}, f64);
    const std::vector<std::pair<const char*, Tensor>> outputs{
        {"norm", norm(x, -1)},
        {"norm of all", norm(x)},
        {"var", var(x, -1)},
        {"layer_norm", layer_norm(x, weight, weight)},
        {"rms_norm", rms_norm(x, weight)},
        {"logsumexp", logsumexp(x, -1)},
        {"softmax", softmax(x)},
        {"mse_loss", mse_loss(x, x.detach())},
        {"l1_loss", l1_loss(x, x.detach())},
        {"huber_loss", huber_loss(x, x.detach())}};
    for (const auto& [name, y] : outputs) {
      Rng rng(3);
      const Tensor seed = normal(y.shape(), rng, 0, 1, f64);
      const Tensor first = grad(y, x, {.create_graph = true, .seed = seed});
      const Tensor second = grad(sum(first * normal(x.shape(), rng, 0, 1, f64)), x);
      for (const Tensor& t : {y, first, second})
        for (const double v : t.to_vector()) EXPECT_TRUE(std::isfinite(v)) << name << " at " << at;
    }
  }
}

TEST(Kinds, N20_SpreadFarFromZero) {
  const std::vector<double> row{10000, 10001, 10002, 10003};
  for (const double far : {0., 1e6, 1e7}) {  // in steps that f32 has; the last mean is none of them
    std::vector<double> moved;
    for (const double v : row) moved.push_back(v + far);
    expect_values(var(leaf(moved, f32)), {5. / 3});
    expect_values(logsumexp(leaf(moved, f32)),
                  {moved[3] + std::log1p(std::exp(-1) + std::exp(-2) + std::exp(-3))});
    const Tensor x = leaf(moved, f32);
    expect_values(softmax(x), {.03205860, .08714432, .23688282, .64391428});
    expect_values(cross_entropy(reshape(x, {1, 4}), tokens({3}, {1})), {.44018970});
  }
}

TEST(Kinds, N02_CrossEntropyOfARowWithNothingLeft) {
  const Tensor x = leaf({-infinity, -infinity, 1, 2}, {2, 2});
  for (const bool graph : {false, true}) {
    const Tensor losses = cross_entropy(x, tokens({0, 1}, {2}), {.reduction = Reduction::none});
    EXPECT_EQ(losses.to_vector()[0], infinity);
    const std::vector<double> dx =
        grad(losses, x, {.create_graph = graph, .seed = ones({2}, f64)}).to_vector();
    EXPECT_EQ(dx[0], 0);
    EXPECT_EQ(dx[1], 0);
    EXPECT_NEAR(dx[2], 1 / (1 + std::exp(1)), 1e-12);
  }
}

}  // namespace
}  // namespace heed::cases
