#include <gtest/gtest.h>
#include <heed/autograd/kernels/gemm.h>
#include <heed/autograd/rng.h>
#include <heed/autograd/threads.h>

#include <Eigen/Core>
#include <cstdint>
#include <limits>
#include <utility>

namespace heed {
namespace {

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <class T>
Matrix<T> random_matrix(std::int64_t rows, std::int64_t columns, Rng& rng) {
  return Matrix<T>::NullaryExpr(rows, columns, [&] { return static_cast<T>(rng.normal()); });
}

/// More than what rounding does to a sum of k products of about 1.
template <class T>
double rounding(std::int64_t k) {
  return 8 * static_cast<double>(k) * std::numeric_limits<T>::epsilon();
}

/// Products of a (m, k) and b (k, n) as parts of larger ones of which Eigen knows the result.
template <class T>
class Products {
 public:
  explicit Products(std::int64_t most)
      : most_(most),
        a_(random_matrix<T>(most, most, rng_)),
        b_(random_matrix<T>(most, most, rng_)) {}

  /// All products over k, for every m and n up to the most, operands transposed as said.
  void check_every_shape(std::int64_t k, bool transpose_a, bool transpose_b) {
    const Matrix<double> whole =
        a_.leftCols(k).template cast<double>() * b_.topRows(k).template cast<double>();
    const double bound = rounding<T>(k);
    for (std::int64_t m = 1; m <= most_; ++m) {
      const Matrix<T> a = transpose_a ? Matrix<T>(a_.topLeftCorner(m, k).transpose())
                                      : Matrix<T>(a_.topLeftCorner(m, k));
      for (std::int64_t n = 1; n <= most_; ++n) {
        const Matrix<T> b = transpose_b ? Matrix<T>(b_.topLeftCorner(k, n).transpose())
                                        : Matrix<T>(b_.topLeftCorner(k, n));
        Matrix<T> c = Matrix<T>::Constant(m + 1, n, kUntouched);
        kernels::gemm(transpose_a, transpose_b, m, n, k, a.data(), b.data(), c.data());
        const double error = (c.topRows(m).template cast<double>() - whole.topLeftCorner(m, n))
                                 .cwiseAbs()
                                 .maxCoeff();
        ASSERT_LE(error, bound) << m << " x " << k << " x " << n;
        ASSERT_TRUE((c.row(m).array() == kUntouched).all()) << m << " x " << k << " x " << n;
      }
    }
  }

 private:
  static constexpr T kUntouched = 7;
  std::int64_t most_;
  Rng rng_{1};
  Matrix<T> a_, b_;
};

template <class T>
struct GemmOf : testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(GemmOf, Types, );

TEST(Gemm, IsEigensProductForEveryShapeUpTo70) {
  Products<float> products(70);
  for (std::int64_t k = 1; k <= 70; ++k) products.check_every_shape(k, false, false);
}

TYPED_TEST(GemmOf, IsEigensProductWhateverIsTransposed) {
  Products<TypeParam> products(70);
  for (const std::int64_t k : {1, 2, 3, 8, 17, 33, 70})
    for (const auto& [a, b] : {std::pair(false, false), {false, true}, {true, false}, {true, true}})
      products.check_every_shape(k, a, b);
}

// Several blocks of k, panels and chunks of rows, the last ones shorter; with a bias and without.
TYPED_TEST(GemmOf, IsEigensProductForLargeShapes) {
  using T = TypeParam;
  Rng rng(2);
  struct Shape {
    std::int64_t m, n, k;
  };
  for (const auto [m, n, k] :
       {Shape{97, 65, 257}, {200, 130, 513}, {6, 300, 600}, {70, 201, 600}, {301, 3, 300}})
    for (const bool transpose_a : {false, true})
      for (const bool transpose_b : {false, true}) {
        const Matrix<T> a = random_matrix<T>(transpose_a ? k : m, transpose_a ? m : k, rng);
        const Matrix<T> b = random_matrix<T>(transpose_b ? n : k, transpose_b ? k : n, rng);
        const Matrix<T> bias = random_matrix<T>(1, n, rng);
        const Matrix<double> left =
            (transpose_a ? Matrix<T>(a.transpose()) : a).template cast<double>();
        const Matrix<double> right =
            (transpose_b ? Matrix<T>(b.transpose()) : b).template cast<double>();
        const Matrix<double> product = left * right;
        for (const T* start : {static_cast<const T*>(nullptr), bias.data()}) {
          Matrix<T> c(m, n);
          kernels::gemm(transpose_a, transpose_b, m, n, k, a.data(), b.data(), c.data(), start);
          Matrix<double> expected = product;
          if (start) expected.rowwise() += bias.template cast<double>().row(0);
          EXPECT_LE((c.template cast<double>() - expected).cwiseAbs().maxCoeff(), rounding<T>(k))
              << m << " x " << k << " x " << n << (start ? " with a bias" : "");
        }
      }
}

// A row of a product does not depend on how many others there are, nor on the threads; b is packed
// whole or, where k is long, by blocks.
TYPED_TEST(GemmOf, GivesARowTheSameBitsInEveryProduct) {
  using T = TypeParam;
  Rng rng(3);
  const std::int64_t m = 250, n = 200;
  for (const std::int64_t k : {300, 700}) {
    const Matrix<T> a = random_matrix<T>(m, k, rng), b = random_matrix<T>(k, n, rng);
    Matrix<T> whole(m, n);
    set_threads(3);
    kernels::gemm(false, false, m, n, k, a.data(), b.data(), whole.data());
    set_threads(1);
    for (const std::int64_t rows : {2, 3, 5, 97, 249, 250}) {
      Matrix<T> part(rows, n);
      kernels::gemm(false, false, rows, n, k, a.data(), b.data(), part.data());
      EXPECT_EQ(part, whole.topRows(rows)) << rows << " rows of " << k;
    }
  }
}

// Where b is wide and long, a transposed a is packed in its place, and the product is turned round.
TYPED_TEST(GemmOf, GivesTheSameBitsWhicheverOperandIsPacked) {
  using T = TypeParam;
  Rng rng(4);
  const std::int64_t m = 200, k = 2000;
  for (const std::int64_t n : {201, 401, 500}) {
    const Matrix<T> a = random_matrix<T>(m, k, rng), turned = a.transpose();
    const Matrix<T> b = random_matrix<T>(k, n, rng);
    Matrix<T> expected(m, n), c(m, n);
    kernels::gemm(false, false, m, n, k, a.data(), b.data(), expected.data());
    for (const int count : {1, 3}) {
      set_threads(count);
      kernels::gemm(true, false, m, n, k, turned.data(), b.data(), c.data());
      EXPECT_EQ(c, expected) << n << " columns on " << count << " threads";
    }
    set_threads(1);
  }
}

TYPED_TEST(GemmOf, IsTheBiasOrZeroOverAnEmptyAxis) {
  using T = TypeParam;
  const T bias[] = {1, 2, 3};
  for (const std::int64_t m : {1, 2}) {
    Matrix<T> c = Matrix<T>::Constant(m, 3, 7);
    kernels::gemm<T>(false, false, m, 3, 0, nullptr, nullptr, c.data());
    EXPECT_TRUE((c.array() == 0).all());
    kernels::gemm<T>(false, false, m, 3, 0, nullptr, nullptr, c.data(), bias);
    EXPECT_EQ(c(m - 1, 2), 3);
  }
}

}  // namespace
}  // namespace heed
