#include <heed/autograd/kernels/buffer.h>
#include <heed/autograd/kernels/gemm.h>
#include <heed/autograd/kernels/parallel.h>
#include <heed/autograd/kernels/vector_kernels.h>

#include <Eigen/Core>
#include <algorithm>

namespace heed::kernels {
namespace {

// Rows of b in a block: a panel of them stays in the second-level cache while the rows of a pass.
// Where a is read down its columns, fewer, so that the lines that hold a tile's rows stay in the
// first.
constexpr std::int64_t kDepth = 256, kDepthDown = 128;
// Rows of c in a chunk: the part of a they need fits beside a panel.
constexpr std::int64_t kRows = 96;
// Products that are worth a chunk of their own, about 8 µs, and how many chunks there are at least
// if there are so many.
constexpr std::int64_t kProducts = 1 << 20, kChunks = 8;

/// y (n) = [bias +] x (k) b (k, n): packing b would cost as much as this.
template <class T>
void multiply_row(std::int64_t n, std::int64_t k, const T* x, const T* b, bool b_row_by_row, T* y,
                  const T* bias) {
  using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
  const Eigen::Map<const Vector> left(x, k);
  Eigen::Map<Vector> out(y, n);
  if (bias)
    out = Eigen::Map<const Vector>(bias, n);
  else
    out.setZero();
  if (b_row_by_row)
    out.noalias() += Eigen::Map<const Matrix>(b, n, k) * left;
  else
    out.noalias() += Eigen::Map<const Matrix>(b, k, n).transpose() * left;
}

/// c is cut into chunks of so many rows and columns. The cuts do not change a bit: see
/// `multiply_packed`.
struct Cuts {
  std::int64_t rows, columns, grain;

  template <class T>
  Cuts(std::int64_t m, std::int64_t n, std::int64_t k, const VectorKernels<T>& kernels) {
    const std::int64_t bands = ceil_div(m, kRows), panels = ceil_div(n, kernels.panel);
    rows = ceil_div(ceil_div(m, bands), kernels.tile_rows) * kernels.tile_rows;
    const std::int64_t groups = std::clamp(ceil_div(kChunks, bands), std::int64_t{1}, panels);
    columns = ceil_div(panels, groups) * kernels.panel;
    grain = ceil_div(kProducts,
                     std::max(std::min(rows, m) * std::min(columns, n) * k, std::int64_t{1}));
  }
};

}  // namespace

std::int64_t gemm_grain(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k) {
  return grain_of(batch, m * n * k / 32);  // about as many elements take as long to add
}

template <class T>
void gemm(bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n, std::int64_t k,
          const T* a, const T* b, T* c, const T* bias) {
  if (m == 0 || n == 0) return;
  const VectorKernels<T>& kernels = vector_kernels<T>();
  const Strided<T> left = transpose_a ? Strided<T>{a, 1, m} : Strided<T>{a, k, 1};
  const Strided<T> right = transpose_b ? Strided<T>{b, 1, k} : Strided<T>{b, n, 1};
  if (m == 1) return multiply_row(n, k, a, b, !transpose_b, c, bias);
  if (n == 1 && !bias)  // cᵀ = bᵀ aᵀ
    return multiply_row<T>(m, k, b, a, transpose_a, c, nullptr);
  if (k == 0) {
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) c[i * n + j] = bias ? bias[j] : T(0);
    return;
  }

  const std::int64_t depth = transpose_a ? kDepthDown : kDepth;
  const bool as_it_is = !transpose_b && n <= kernels.panel && n % kernels.width == 0;
  const Buffer<T> buffer(as_it_is ? 0 : k * ceil_div(n, kernels.width) * kernels.width);
  if (!as_it_is) {
    const std::int64_t grain = ceil_div(grain_of(n, k), kernels.panel) * kernels.panel;
    parallel_for(n, grain, [&](std::int64_t begin, std::int64_t end) {
      kernels.pack(k, n, right, depth, begin, end, buffer.data());
    });
  }
  const T* packed = as_it_is ? b : buffer.data();

  const Cuts cuts(m, n, k, kernels);
  const std::int64_t groups = ceil_div(n, cuts.columns), chunks = ceil_div(m, cuts.rows) * groups;
  parallel_for(chunks, cuts.grain, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t chunk = first; chunk < last; ++chunk) {
      const std::int64_t row = chunk / groups * cuts.rows, column = chunk % groups * cuts.columns;
      kernels.multiply_packed(std::min(cuts.rows, m - row), n, k,
                              {left.data + row * left.row, left.row, left.column}, packed, depth,
                              column, std::min(column + cuts.columns, n), c + row * n, bias);
    }
  });
}

template void gemm(bool, bool, std::int64_t, std::int64_t, std::int64_t, const float*, const float*,
                   float*, const float*);
template void gemm(bool, bool, std::int64_t, std::int64_t, std::int64_t, const double*,
                   const double*, double*, const double*);

}  // namespace heed::kernels
