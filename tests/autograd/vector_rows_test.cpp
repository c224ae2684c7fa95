// Kernels over rows, of every instruction set the CPU has, against plain loops in f64: rows that
// end within a vector, between vectors and after many.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "isas.h"

namespace heed::kernels {
namespace {

constexpr std::int64_t kRows = 7;
const std::vector<std::int64_t> kLengths{1,  2,  3,  4,  5,  7,  8,  9,  15, 16,  17,  31,
                                         32, 33, 47, 63, 64, 65, 79, 95, 96, 128, 257, 1000};

/// Numbers from -1.5 to 1.5 about `centre`, the same on every call.
template <class T>
std::vector<T> numbers(std::int64_t n, std::uint32_t seed, double centre = 0) {
  std::vector<T> x;
  for (std::int64_t i = 0; i < n; ++i) {
    seed = seed * 1664525 + 1013904223;
    x.push_back(static_cast<T>(centre + 3. * seed / 4294967296. - 1.5));
  }
  return x;
}

template <class T>
struct Data {
  std::int64_t n;
  std::vector<T> x, g, w, b, y;
  Data(std::int64_t length, double centre = 0)
      : n(length),
        x(numbers<T>(kRows * n, 1, centre)),
        g(numbers<T>(kRows * n, 2)),
        w(numbers<T>(n, 3)),
        b(numbers<T>(n, 4)),
        y(static_cast<std::size_t>(kRows * n + 1), T(77)) {}

  double at(const std::vector<T>& v, std::int64_t row, std::int64_t i) const {
    return static_cast<double>(v[static_cast<std::size_t>(row * n + i)]);
  }
  /// Sum over a row of f(i).
  template <class F>
  double sum(F f) const {
    double total = 0;
    for (std::int64_t i = 0; i < n; ++i) total += f(i);
    return total;
  }
  /// That y is f(row, i), and nothing was written behind it.
  template <class F>
  void expect(F f) const {
    const double tolerance = sizeof(T) == 4 ? 2e-6 : 1e-14;
    for (std::int64_t row = 0; row < kRows; ++row)
      for (std::int64_t i = 0; i < n; ++i) {
        const double exact = f(row, i);
        ASSERT_NEAR(at(y, row, i), exact, tolerance * (1 + std::fabs(exact)))
            << "element " << i << " of row " << row;
      }
    EXPECT_EQ(y.back(), T(77));
  }
};

/// Calls `test(kernels, length)` for each instruction set and length.
template <class T, class Test>
void for_all(Test test) {
  for (const Isa isa : isas())
    for (const std::int64_t n : kLengths) {
      SCOPED_TRACE(testing::Message() << name(isa) << ", rows of " << n);
      test(vector_kernels<T>(isa), n);
    }
}

template <class T>
class VectorRows : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(VectorRows, Types);

TYPED_TEST(VectorRows, Softmax) {
  for_all<TypeParam>([](auto& kernels, std::int64_t n) {
    Data<TypeParam> d(n, 20);
    const auto p = [&](std::int64_t row, std::int64_t i) {
      return std::exp(d.at(d.x, row, i)) /
             d.sum([&](auto j) { return std::exp(d.at(d.x, row, j)); });
    };
    kernels.softmax(kRows, n, d.x.data(), d.y.data());
    d.expect(p);
    kernels.log_softmax(kRows, n, d.x.data(), d.y.data());
    d.expect([&](auto row, auto i) { return std::log(p(row, i)); });
    std::vector<ExpSum> sums(kRows);
    kernels.exp_sums(kRows, n, d.x.data(), sums.data());
    for (std::int64_t row = 0; row < kRows; ++row) {
      const ExpSum& of = sums[static_cast<std::size_t>(row)];
      const double total = d.sum([&](auto j) { return std::exp(d.at(d.x, row, j)); });
      EXPECT_NEAR(of.shift + std::log(of.total), std::log(total), 1e-6);
      kernels.exp_row(n, d.x.data() + row * n, static_cast<TypeParam>(of.shift),
                      static_cast<TypeParam>(1 / of.total), TypeParam(.25), d.y.data() + row * n);
    }
    d.expect([&](auto row, auto i) { return p(row, i) - .25; });
  });
}

TYPED_TEST(VectorRows, SoftmaxBackward) {
  for_all<TypeParam>([](auto& kernels, std::int64_t n) {
    Data<TypeParam> d(n);
    kernels.softmax_backward(kRows, n, d.x.data(), d.g.data(), d.y.data());
    const auto dot = [&](auto row) {
      return d.sum([&](auto j) { return d.at(d.x, row, j) * d.at(d.g, row, j); });
    };
    d.expect([&](auto row, auto i) { return d.at(d.x, row, i) * (d.at(d.g, row, i) - dot(row)); });
    kernels.log_softmax_backward(kRows, n, d.x.data(), d.g.data(), d.y.data());
    d.expect([&](auto row, auto i) {
      return d.at(d.g, row, i) -
             std::exp(d.at(d.x, row, i)) * d.sum([&](auto j) { return d.at(d.g, row, j); });
    });
  });
}

TYPED_TEST(VectorRows, LayerNorm) {
  for_all<TypeParam>([](auto& kernels, std::int64_t n) {
    const double eps = 1e-3;
    Data<TypeParam> d(n, 100);
    const auto count = static_cast<double>(n);
    std::vector<RowStatistics> rows(kRows);
    const auto mean = [&](auto row) {
      return d.sum([&](auto j) { return d.at(d.x, row, j); }) / count;
    };
    const auto rstd = [&](auto row) {
      const double m = mean(row);
      return 1 / std::sqrt(d.sum([&](auto j) {
               return std::pow(d.at(d.x, row, j) - m, 2);
             }) / count + eps);
    };
    const auto unit = [&](auto row, auto i) { return (d.at(d.x, row, i) - mean(row)) * rstd(row); };
    const TypeParam* none = nullptr;
    kernels.layer_norm(kRows, n, d.x.data(), none, none, eps, rows.data(), d.y.data());
    if (n < 100) d.expect(unit);
    kernels.layer_norm(kRows, n, d.x.data(), d.w.data(), d.b.data(), eps, rows.data(), d.y.data());
    if (n < 100)
      d.expect([&](auto row, auto i) { return unit(row, i) * d.at(d.w, 0, i) + d.at(d.b, 0, i); });
    for (std::int64_t row = 0; row < kRows; ++row) {
      EXPECT_NEAR(rows[static_cast<std::size_t>(row)].mean, mean(row), 1e-11);
      EXPECT_NEAR(rows[static_cast<std::size_t>(row)].rstd / rstd(row), 1, 1e-6);
    }
  });
}

// In any company: rows are worked on in groups, here several, the last one not whole.
TYPED_TEST(VectorRows, LayerNormOfARowHasTheSameBitsInAnyCompany) {
  for_all<TypeParam>([](auto& kernels, std::int64_t n) {
    constexpr std::int64_t kMany = 17;
    const Data<TypeParam> d(n);
    const std::vector<TypeParam> x = numbers<TypeParam>(kMany * n, 5, 2);
    std::vector<TypeParam> together(x.size()), alone(x.size());
    std::vector<RowStatistics> rows(kMany);
    const auto normalise = [&](std::int64_t row, std::int64_t count, std::vector<TypeParam>& y) {
      kernels.layer_norm(count, n, x.data() + row * n, d.w.data(), d.b.data(), 1e-3,
                         rows.data() + row, y.data() + row * n);
    };
    normalise(0, kMany, together);
    for (std::int64_t row = 0; row < kMany; ++row) normalise(row, 1, alone);
    EXPECT_EQ(alone, together);
  });
}

TYPED_TEST(VectorRows, LayerNormBackward) {
  for_all<TypeParam>([](auto& kernels, std::int64_t n) {
    Data<TypeParam> d(n);
    const auto count = static_cast<double>(n);
    const double mean = .25, rstd = 1.5;
    const std::vector<RowStatistics> rows(kRows, {mean, rstd});
    const auto unit = [&](auto row, auto i) { return (d.at(d.x, row, i) - mean) * rstd; };
    for (const bool weighted : {false, true}) {
      const TypeParam* w = weighted ? d.w.data() : nullptr;
      std::vector<double> dw(static_cast<std::size_t>(n) + 16, 1), db = dw;
      kernels.layer_norm_backward(kRows, n, d.x.data(), w, d.g.data(), rows.data(), d.y.data(),
                                  dw.data(), db.data());
      const auto gw = [&](auto row, auto i) {
        return d.at(d.g, row, i) * (w ? d.at(d.w, 0, i) : 1);
      };
      std::vector<double> means, slopes;
      for (std::int64_t row = 0; row < kRows; ++row) {
        means.push_back(d.sum([&](auto j) { return gw(row, j); }) / count);
        slopes.push_back(d.sum([&](auto j) { return gw(row, j) * unit(row, j); }) / count);
      }
      d.expect([&](auto row, auto i) {
        const auto at = static_cast<std::size_t>(row);
        return rstd * (gw(row, i) - means[at] - unit(row, i) * slopes[at]);
      });
      for (std::int64_t i = 0; i < n; ++i) {
        double w_sum = 1, b_sum = 1;
        for (std::int64_t row = 0; row < kRows; ++row) {
          w_sum += d.at(d.g, row, i) * unit(row, i);
          b_sum += d.at(d.g, row, i);
        }
        ASSERT_NEAR(dw[static_cast<std::size_t>(i)], w_sum, 1e-5) << "dw " << i;
        ASSERT_NEAR(db[static_cast<std::size_t>(i)], b_sum, 1e-12) << "db " << i;
      }
    }
  });
}

TYPED_TEST(VectorRows, Sums) {
  for_all<TypeParam>([](auto& kernels, std::int64_t n) {
    const Data<TypeParam> d(n);
    const double sum = d.sum([&](auto i) { return d.at(d.x, 0, i); });
    const double squares = d.sum([&](auto i) { return std::pow(d.at(d.x, 0, i), 2); });
    EXPECT_NEAR(kernels.sum(n, d.x.data()), sum, 1e-11);
    EXPECT_NEAR(kernels.sum_of_squares(n, d.x.data()), squares, 1e-10);
    EXPECT_EQ(kernels.largest(n, d.x.data()), *std::max_element(d.x.begin(), d.x.begin() + n));
    std::vector<double> sums(static_cast<std::size_t>(n) + 16, 1);
    kernels.add_rows(kRows, n, n, d.x.data(), sums.data());
    for (std::int64_t i = 0; i < n; ++i) {
      double total = 1;
      for (std::int64_t row = 0; row < kRows; ++row) total += d.at(d.x, row, i);
      ASSERT_NEAR(sums[static_cast<std::size_t>(i)], total, 1e-12) << "column " << i;
    }
  });
}

TYPED_TEST(VectorRows, NanAndInfinityAnywhere) {
  using Limits = std::numeric_limits<TypeParam>;
  for_all<TypeParam>([](auto& kernels, std::int64_t n) {
    for (std::int64_t i = 0; i < n; i += 1 + n / 40) {
      std::vector<TypeParam> x(static_cast<std::size_t>(n), -Limits::infinity()), y(x);
      x[static_cast<std::size_t>(i)] = Limits::quiet_NaN();
      EXPECT_TRUE(std::isnan(kernels.largest(n, x.data())));
      kernels.softmax(1, n, x.data(), y.data());
      EXPECT_TRUE(std::isnan(y[static_cast<std::size_t>(i)])) << i;
      x[static_cast<std::size_t>(i)] = -2;
      EXPECT_EQ(kernels.largest(n, x.data()), -2);
      kernels.softmax(1, n, x.data(), y.data());
      for (std::int64_t j = 0; j < n; ++j) EXPECT_EQ(y[static_cast<std::size_t>(j)], i == j);
    }
  });
}

}  // namespace
}  // namespace heed::kernels
