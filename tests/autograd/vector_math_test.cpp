// The elementary functions of every instruction set the CPU has, against long double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <ostream>
#include <vector>

#include "isas.h"

namespace heed::kernels {
namespace {

using Real = long double;

Real sigmoid(Real x) { return 1 / (1 + std::exp(-x)); }
Real normal_cdf(Real x) { return std::erfc(-x / std::numbers::sqrt2_v<Real>) / 2; }
Real density(Real x) {
  return std::exp(-x * x / 2) * std::numbers::inv_sqrtpi_v<Real> / std::numbers::sqrt2_v<Real>;
}
Real gate(Real x) {
  const Real scale = 2 * std::numbers::sqrt2_v<Real> * std::numbers::inv_sqrtpi_v<Real>;
  return sigmoid(scale * (x + Real(0.044715) * x * x * x));
}
Real gelu_tanh_slope(Real x) {
  const Real scale = 2 * std::numbers::sqrt2_v<Real> * std::numbers::inv_sqrtpi_v<Real>;
  const Real s = gate(x);
  return s + x * s * (1 - s) * scale * (1 + 3 * Real(0.044715) * x * x);
}

/// A function of the tables, what it should be, and how far off it may be on [-limit, limit]:
/// relative to the value or, where that is smaller, to `floor`.
template <class T>
struct Function {
  const char* name;
  Map<T> VectorKernels<T>::*value;
  MapBackward<T> VectorKernels<T>::*slope;  // if there is no `value`
  Real (*exact)(Real);
  double limit;
  double error;
  double floor = 0;
};

using F = VectorKernels<float>;
using D = VectorKernels<double>;

const std::vector<Function<float>> kSingle{
    {"exp", &F::exp, {}, [](Real x) { return std::exp(x); }, 87.3, 1e-7},
    {"tanh", &F::tanh, {}, [](Real x) { return std::tanh(x); }, 12, 3e-7},
    {"sigmoid", &F::sigmoid, {}, sigmoid, 87, 2e-7},
    {"erf", &F::erf, {}, [](Real x) { return std::erf(x); }, 6, 6e-7},
    {"normal_cdf", &F::normal_cdf, {}, normal_cdf, 10, 6e-6},
    {"gelu", &F::gelu, {}, [](Real x) { return x * normal_cdf(x); }, 10, 6e-6},
    {"normal_cdf, near", &F::normal_cdf, {}, normal_cdf, 1, 6e-7},
    {"gelu, near", &F::gelu, {}, [](Real x) { return x * normal_cdf(x); }, 1, 6e-7},
    {"gelu_tanh", &F::gelu_tanh, {}, [](Real x) { return x * gate(x); }, 10, 1e-7},
    {"silu", &F::silu, {}, [](Real x) { return x * sigmoid(x); }, 87, 3e-7},
    {"gelu'",
     {},
     &F::gelu_backward,
     [](Real x) { return normal_cdf(x) + x * density(x); },
     10,
     6e-6},
    {"gelu_tanh'", {}, &F::gelu_tanh_backward, gelu_tanh_slope, 10, 1e-7},
    {"silu'",
     {},
     &F::silu_backward,
     [](Real x) { return sigmoid(x) * (1 + x * (1 - sigmoid(x))); },
     80,
     2e-5,
     1e-3},
};
const std::vector<Function<double>> kDouble{
    {"exp", &D::exp, {}, [](Real x) { return std::exp(x); }, 708, 2e-16},
    {"tanh", &D::tanh, {}, [](Real x) { return std::tanh(x); }, 20, 4e-16},
    {"sigmoid", &D::sigmoid, {}, sigmoid, 700, 4e-16},
    {"erf", &D::erf, {}, [](Real x) { return std::erf(x); }, 6, 4e-16},
    {"normal_cdf", &D::normal_cdf, {}, normal_cdf, 10, 3e-14},
    {"gelu", &D::gelu, {}, [](Real x) { return x * normal_cdf(x); }, 10, 3e-14},
    {"gelu_tanh", &D::gelu_tanh, {}, [](Real x) { return x * gate(x); }, 10, 5e-14},
    {"silu", &D::silu, {}, [](Real x) { return x * sigmoid(x); }, 700, 6e-16},
    {"gelu'",
     {},
     &D::gelu_backward,
     [](Real x) { return normal_cdf(x) + x * density(x); },
     10,
     3e-14,
     1e-2},
    {"gelu_tanh'", {}, &D::gelu_tanh_backward, gelu_tanh_slope, 10, 5e-14, 1e-2},
    {"silu'",
     {},
     &D::silu_backward,
     [](Real x) { return sigmoid(x) * (1 + x * (1 - sigmoid(x))); },
     700,
     2e-14,
     1e-3},
};

template <class T>
std::vector<T> run(const Function<T>& function, Isa isa, const std::vector<T>& x) {
  const VectorKernels<T>& kernels = vector_kernels<T>(isa);
  std::vector<T> y(x.size());
  const auto n = static_cast<std::int64_t>(x.size());
  if (function.value) {
    (kernels.*function.value)(n, x.data(), y.data());
  } else {
    const std::vector<T> g(x.size(), 1);
    (kernels.*function.slope)(n, x.data(), g.data(), y.data());
  }
  return y;
}

/// Points an even step apart, and others ever closer to 0.
template <class T>
std::vector<T> points(double limit) {
  constexpr int kSteps = 20'000;
  std::vector<T> x;
  for (int i = -kSteps; i <= kSteps; ++i) x.push_back(static_cast<T>(limit * i / kSteps));
  for (double v = limit; v > 1e-30; v /= 1.01)
    for (const double sign : {-1., 1.}) x.push_back(static_cast<T>(sign * v));
  return x;
}

template <class T>
void expect_within_bounds(const std::vector<Function<T>>& functions) {
  for (const Function<T>& function : functions) {
    const std::vector<T> x = points<T>(function.limit);
    std::vector<Real> all(x.size());
    std::ranges::transform(x, all.begin(), [&](T v) { return function.exact(v); });
    for (const Isa isa : isas()) {
      const std::vector<T> y = run(function, isa, x);
      Real worst = 0;
      T at = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const Real exact = all[i];
        if (exact == 0) {
          EXPECT_EQ(y[i], 0) << function.name << " at " << x[i];
          continue;
        }
        const Real error =
            std::fabs(y[i] - exact) / std::max(std::fabs(exact), Real(function.floor));
        if (!(error <= worst)) worst = error, at = x[i];
      }
      EXPECT_LE(worst, function.error) << function.name << " of " << name(isa) << " at " << at;
    }
  }
}

TEST(VectorMath, SinglesAreWithinTheirBounds) { expect_within_bounds(kSingle); }
TEST(VectorMath, DoublesAreWithinTheirBounds) { expect_within_bounds(kDouble); }

template <class T>
void expect_gradual_underflow(T from, T to) {
  std::vector<T> x;
  for (int i = 0; i <= 10'000; ++i) x.push_back(from + (to - from) * static_cast<T>(i) / 10'000);
  for (const Isa isa : isas()) {
    std::vector<T> y(x.size());
    vector_kernels<T>(isa).exp(static_cast<std::int64_t>(x.size()), x.data(), y.data());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const Real exact = std::exp(Real(x[i]));
      ASSERT_LE(std::fabs(y[i] - exact),
                std::numeric_limits<T>::denorm_min() + exact * std::numeric_limits<T>::epsilon())
          << name(isa) << " at " << x[i];
    }
  }
}

TEST(VectorMath, ExpUnderflowsGradually) {
  expect_gradual_underflow<float>(-105, -87);
  expect_gradual_underflow<double>(-747, -708);
}

template <class T>
void expect_limits(T last_finite, T first_infinite) {
  using Limits = std::numeric_limits<T>;
  const T inf = Limits::infinity(), most = Limits::max();
  const std::vector<T> x{
      -inf, -most, T(-0.), 0, last_finite, first_infinite, most, inf, Limits::quiet_NaN()};
  const auto n = static_cast<std::int64_t>(x.size());
  for (const Isa isa : isas()) {
    SCOPED_TRACE(name(isa));
    const VectorKernels<T>& kernels = vector_kernels<T>(isa);
    std::vector<T> y(x.size());
    const auto expect = [&](Map<T> f, std::vector<T> values) {
      f(n, x.data(), y.data());
      for (std::size_t i = 0; i + 1 < x.size(); ++i) EXPECT_EQ(y[i], values[i]) << "at " << x[i];
      EXPECT_TRUE(std::isnan(y.back()));
    };
    kernels.exp(n, x.data(), y.data());
    const T large = y[4];
    EXPECT_TRUE(std::isfinite(large) && large > most / 2);
    expect(kernels.exp, {0, 0, 1, 1, large, inf, inf, inf});
    expect(kernels.tanh, {-1, -1, T(-0.), 0, 1, 1, 1, 1});
    EXPECT_TRUE(std::signbit(y[2]));
    expect(kernels.sigmoid, {0, 0, T(.5), T(.5), 1, 1, 1, 1});
    expect(kernels.erf, {-1, -1, T(-0.), 0, 1, 1, 1, 1});
    EXPECT_TRUE(std::signbit(y[2]));
    expect(kernels.normal_cdf, {0, 0, T(.5), T(.5), 1, 1, 1, 1});
    expect(kernels.gelu, {0, 0, T(-0.), 0, last_finite, first_infinite, most, inf});
    EXPECT_TRUE(std::signbit(y[2]));
    kernels.gelu_backward(n, x.data(), std::vector<T>(x.size(), 1).data(), y.data());
    const std::vector<T> slopes{0, 0, T(.5), T(.5), 1, 1, 1, 1};
    for (std::size_t i = 0; i < slopes.size(); ++i) EXPECT_NEAR(y[i], slopes[i], 1e-7);
    EXPECT_TRUE(std::isnan(y.back()));
  }
}

TEST(VectorMath, HasItsLimits) {
  expect_limits<float>(88.72f, 88.73f);
  expect_limits<double>(709.78, 709.79);
}

/// That what follows the last full vector is the same as within one, and nothing else is written.
template <class T>
void expect_tails(const std::vector<Function<T>>& functions) {
  constexpr std::int64_t kMost = 50;
  std::vector<T> x;
  for (std::int64_t i = 0; i < kMost; ++i) x.push_back(static_cast<T>(i) / 7 - 3);
  for (const Function<T>& function : functions)
    for (const Isa isa : isas()) {
      std::vector<T> padded = x;
      padded.resize(64);
      const std::vector<T> all = run(function, isa, padded);
      for (std::int64_t n = 0; n <= kMost; ++n) {
        std::vector<T> y(kMost + 1, 77);
        const std::vector<T> g(kMost, 1);
        const VectorKernels<T>& kernels = vector_kernels<T>(isa);
        if (function.value)
          (kernels.*function.value)(n, x.data(), y.data());
        else
          (kernels.*function.slope)(n, x.data(), g.data(), y.data());
        for (std::int64_t i = 0; i <= kMost; ++i) {
          const auto at = static_cast<std::size_t>(i);
          ASSERT_EQ(y[at], i < n ? all[at] : T(77))
              << function.name << " of " << name(isa) << ", element " << i << " of " << n;
        }
      }
    }
}

TEST(VectorMath, TailsAreLikeTheRest) {
  expect_tails(kSingle);
  expect_tails(kDouble);
}

}  // namespace
}  // namespace heed::kernels
