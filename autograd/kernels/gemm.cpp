#include <heed/autograd/kernels/gemm.h>
#include <heed/autograd/kernels/packed_product.h>

#include <Eigen/Core>

namespace heed::kernels {
namespace {

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using View = Eigen::Map<const Matrix<T>, 0, Eigen::OuterStride<>>;

template <class A, class B, class C>
void multiply(const A& a, const B& b, C& c, bool accumulate) {
  constexpr Eigen::Index kPacked = EIGEN_GEMM_TO_COEFFBASED_THRESHOLD;
  if (!accumulate) c.setZero();
  if (a.rows() > 1 && b.cols() > 1 && a.rows() + b.cols() + a.cols() >= kPacked)
    add_packed_product(a, b, c);
  else
    c.noalias() += a * b;
}

}  // namespace

template <class T>
void gemm(bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n, std::int64_t k,
          const T* a, std::int64_t a_stride, const T* b, std::int64_t b_stride, T* c,
          std::int64_t c_stride, bool accumulate) {
  if (m == 0 || n == 0) return;
  const View<T> left(a, transpose_a ? k : m, transpose_a ? m : k, Eigen::OuterStride<>(a_stride));
  const View<T> right(b, transpose_b ? n : k, transpose_b ? k : n, Eigen::OuterStride<>(b_stride));
  Eigen::Map<Matrix<T>, 0, Eigen::OuterStride<>> out(c, m, n, Eigen::OuterStride<>(c_stride));
  if (k == 0) {
    if (!accumulate) out.setZero();
  } else if (transpose_a && transpose_b) {
    multiply(left.transpose(), right.transpose(), out, accumulate);
  } else if (transpose_a) {
    multiply(left.transpose(), right, out, accumulate);
  } else if (transpose_b) {
    multiply(left, right.transpose(), out, accumulate);
  } else {
    multiply(left, right, out, accumulate);
  }
}

template void gemm(bool, bool, std::int64_t, std::int64_t, std::int64_t, const float*, std::int64_t,
                   const float*, std::int64_t, float*, std::int64_t, bool);
template void gemm(bool, bool, std::int64_t, std::int64_t, std::int64_t, const double*,
                   std::int64_t, const double*, std::int64_t, double*, std::int64_t, bool);

}  // namespace heed::kernels
