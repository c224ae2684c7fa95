#include <heed/autograd/kernels/gemm.h>
#include <heed/autograd/kernels/packed.h>
#include <heed/autograd/threads.h>

#include <Eigen/Core>
#include <algorithm>

namespace heed::kernels {
namespace {

// Rows of b in a block where a is read down its columns: the lines that hold a tile's rows stay in
// the first-level cache.
constexpr std::int64_t kDepthDown = 128;
// Rows of c in a chunk: the part of a they need fits beside a panel.
constexpr std::int64_t kRows = 96;
// Products that are worth a chunk of their own, about 8 µs, and how many chunks there are at least
// if there are so many.
constexpr std::int64_t kProducts = 1 << 20, kChunks = 8;
// Rows of b from which on they are packed by blocks, if c has no more.
constexpr std::int64_t kLong = 512;
// Elements that are packed in the time in which one of c is turned.
constexpr std::int64_t kTurning = 4;

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

/// c = start + a b, with b packed once for all rows of c.
template <class T>
void multiply_by_rows(std::int64_t m, std::int64_t n, std::int64_t k, Strided<T> a, Strided<T> b,
                      std::int64_t depth, T* c, Start<T> start) {
  const Packed<T> packed(k, n, b, depth);
  const Cuts cuts(m, n, k, vector_kernels<T>());
  const std::int64_t groups = ceil_div(n, cuts.columns), chunks = ceil_div(m, cuts.rows) * groups;
  parallel_for(chunks, cuts.grain, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t chunk = first; chunk < last; ++chunk) {
      const std::int64_t row = chunk / groups * cuts.rows, column = chunk % groups * cuts.columns;
      packed.multiply(std::min(cuts.rows, m - row), {a.data + row * a.row, a.row, a.column}, column,
                      std::min(column + cuts.columns, n), {c + row * n, n}, start);
    }
  });
}

/// to (m, n) = fromᵀ.
template <class T>
void transpose(std::int64_t m, std::int64_t n, const T* from, T* to) {
  const VectorKernels<T>& kernels = vector_kernels<T>();
  const Buffer<T> panel(m * kernels.panel);
  for (std::int64_t j = 0; j < n; j += kernels.panel) {
    const std::int64_t columns = std::min(kernels.panel, n - j);
    const std::int64_t row = ceil_div(columns, kernels.width) * kernels.width;
    kernels.pack(m, columns, {from + j * m, 1, m}, m, 0, columns, panel.data());
    for (std::int64_t i = 0; i < m; ++i)
      std::copy_n(panel.data() + i * row, columns, to + i * n + j);
  }
}

/// c = a b where b is long and c small, as in the gradient of a weight: a block of b is packed when
/// its turn comes and is still in the cache when it is multiplied, and c stays there.
template <class T>
void multiply_by_blocks(std::int64_t m, std::int64_t n, std::int64_t k, Strided<T> a, Strided<T> b,
                        std::int64_t depth, T* c) {
  const std::int64_t panel = vector_kernels<T>().panel, panels = ceil_div(n, panel);
  const std::int64_t columns = ceil_div(panels, std::min<std::int64_t>(panels, threads())) * panel;
  parallel_for(n, columns, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t block = 0; block < k; block += depth) {
      const Packed<T> packed(std::min(depth, k - block), end - begin,
                             {b.data + block * b.row + begin * b.column, b.row, b.column}, depth);
      packed.multiply(m, {a.data + block * a.column, a.row, a.column}, {c + begin, n},
                      block ? Start<T>{c + begin, n} : Start<T>{});
    }
  });
}

}  // namespace

std::int64_t gemm_grain(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k) {
  return grain_of(batch, m * n * k / 32);  // about as many elements take as long to add
}

template <class T>
void gemm(bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n, std::int64_t k,
          const T* a, const T* b, T* c, const T* bias) {
  if (m == 0 || n == 0) return;
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
  if (k >= std::max(kLong, m) && !bias) {
    // A transposed a is packed in place of b, for cᵀ = bᵀ aᵀ, if it is so much narrower that this
    // saves more than turning c costs, and if it has a panel for every thread.
    const bool turned =
        transpose_a && k * (n - m) > kTurning * m * n && m >= threads() * vector_kernels<T>().panel;
    if (!turned) return multiply_by_blocks(m, n, k, left, right, depth, c);
    const Buffer<T> turned_c(m * n);
    multiply_by_blocks<T>(n, m, k, {b, right.column, right.row}, {a, left.column, left.row}, depth,
                          turned_c.data());
    return transpose(m, n, turned_c.data(), c);
  }
  multiply_by_rows(m, n, k, left, right, depth, c, {bias, 0});
}

template void gemm(bool, bool, std::int64_t, std::int64_t, std::int64_t, const float*, const float*,
                   float*, const float*);
template void gemm(bool, bool, std::int64_t, std::int64_t, std::int64_t, const double*,
                   const double*, double*, const double*);

}  // namespace heed::kernels
