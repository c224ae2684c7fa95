#include <heed/autograd/kernels/gemm.h>
#include <heed/autograd/kernels/packed_product.h>
#include <heed/autograd/kernels/parallel.h>

#include <Eigen/Core>
#include <algorithm>
#include <bit>
#include <cstdint>

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

template <class T>
void gemm_block(bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n, std::int64_t k,
                const T* a, std::int64_t a_stride, const T* b, std::int64_t b_stride, T* c,
                std::int64_t c_stride, bool accumulate) {
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

// Eigen packs an operand anew for every block, so blocks are few and large, and the longer side is
// cut: one thread loses 2 to 6 percent by them on the products of a transformer.
std::int64_t block_of(std::int64_t side, std::int64_t products) {
  constexpr std::int64_t kSmall = 1 << 21, kLarge = 1 << 23, kSide = 192, kMostBlocks = 16;
  if (products < kSmall) return side;
  const std::int64_t least = side >= 128 && products >= kLarge ? 2 : 1;
  const auto fitting = static_cast<std::uint64_t>(std::max(side / kSide, least));
  const auto blocks = std::min(static_cast<std::int64_t>(std::bit_floor(fitting)), kMostBlocks);
  return (side + blocks - 1) / blocks;
}

}  // namespace

std::int64_t gemm_grain(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k) {
  return grain_of(batch, m * n * k / 32);  // about as many elements take as long to add
}

template <class T>
void gemm(bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n, std::int64_t k,
          const T* a, std::int64_t a_stride, const T* b, std::int64_t b_stride, T* c,
          std::int64_t c_stride, bool accumulate) {
  if (m == 0 || n == 0) return;
  if (n > m) {
    parallel_for(n, block_of(n, m * n * k), [=](std::int64_t begin, std::int64_t end) {
      gemm_block(transpose_a, transpose_b, m, end - begin, k, a, a_stride,
                 b + (transpose_b ? begin * b_stride : begin), b_stride, c + begin, c_stride,
                 accumulate);
    });
  } else {
    parallel_for(m, block_of(m, m * n * k), [=](std::int64_t begin, std::int64_t end) {
      gemm_block(transpose_a, transpose_b, end - begin, n, k,
                 a + (transpose_a ? begin : begin * a_stride), a_stride, b, b_stride,
                 c + begin * c_stride, c_stride, accumulate);
    });
  }
}

template void gemm(bool, bool, std::int64_t, std::int64_t, std::int64_t, const float*, std::int64_t,
                   const float*, std::int64_t, float*, std::int64_t, bool);
template void gemm(bool, bool, std::int64_t, std::int64_t, std::int64_t, const double*,
                   std::int64_t, const double*, std::int64_t, double*, std::int64_t, bool);

}  // namespace heed::kernels
