#pragma once

#include <heed/autograd/isa.h>
#include <heed/autograd/kernels/attention_tile.h>

#include <cstdint>

// Note [Kernels for every instruction set]
// The files in vector/ are compiled once for each instruction set, each time into the table that is
// declared below, and one table is taken when the program runs. So that no code of one set is ever
// called on a CPU without it, what they define is local to the file that includes them, they
// include nothing with functions of its own (no Eigen, no <algorithm>), and they are reached
// through these pointers alone. A test looks for symbols that the linker could share. The tables
// hold pointers to functions on raw arrays; cutting work into chunks is up to the caller.

namespace heed::kernels {

/// A matrix whose element (i, j) is data[i * row + j * column].
template <class T>
struct Strided {
  const T* data;
  std::int64_t row, column;
};

/// What the rows of a product are added to: rows that lie `row` apart, one row for all if that is
/// 0, or nothing.
template <class T>
struct Start {
  const T* data = nullptr;
  std::int64_t row = 0;
};

/// y[i] = f(x[i]), and dx[i] = g[i] f'(x[i]).
template <class T>
using Map = void (*)(std::int64_t n, const T* x, T* y);
template <class T>
using MapBackward = void (*)(std::int64_t n, const T* x, const T* g, T* dx);

/// Of a row: what is taken off its elements before exp, and the sum of what that gives.
struct ExpSum {
  double shift, total;
};

/// Of a row in layer norm.
struct RowStatistics {
  double mean;
  double rstd;  ///< 1 / sqrt(variance + eps)
};

template <class T>
struct VectorKernels {
  std::int64_t panel;      ///< columns of b that are packed side by side
  std::int64_t width;      ///< of a vector
  std::int64_t tile_rows;  ///< rows of c that are made at a time

  /// Packs the columns [begin, end) of b (k, n), begin a multiple of `panel`: blocks of `depth`
  /// rows, within a block panels, within a panel row by row. The last panel is filled up with zeros
  /// to a multiple of `width`, so a dense b of one panel that has this width is packed as it is.
  /// Rows or columns of b are dense: one of its steps is 1.
  void (*pack)(std::int64_t k, std::int64_t n, Strided<T> b, std::int64_t depth, std::int64_t begin,
               std::int64_t end, T* packed);
  /// The columns [begin, end) of c (m, n) = start + a b, with b packed. Each element is summed in
  /// the order of k, whatever m and the columns are. k > 0.
  void (*multiply_packed)(std::int64_t m, std::int64_t n, std::int64_t k, Strided<T> a,
                          const T* packed, std::int64_t depth, std::int64_t begin, std::int64_t end,
                          Rows<T> c, Start<T> start);

  Map<T> exp, tanh, sigmoid, erf, normal_cdf, gelu, gelu_tanh, silu;
  MapBackward<T> gelu_backward, gelu_tanh_backward, silu_backward;

  double (*sum)(std::int64_t n, const T* x);
  double (*sum_of_squares)(std::int64_t n, const T* x);
  /// A NaN among them wins; -inf of nothing.
  T (*largest)(std::int64_t n, const T* x);
  /// sums[j] += x[i, j] over the rows i; `sums` has room for whole vectors.
  void (*add_rows)(std::int64_t rows, std::int64_t n, std::int64_t stride, const T* x,
                   double* sums);

  /// Of each row of (rows, n). A row of -inf gives zeros, or -inf.
  void (*softmax)(std::int64_t rows, std::int64_t n, const T* x, T* y);
  void (*log_softmax)(std::int64_t rows, std::int64_t n, const T* x, T* y);
  /// From the output y.
  void (*softmax_backward)(std::int64_t rows, std::int64_t n, const T* y, const T* g, T* dx);
  void (*log_softmax_backward)(std::int64_t rows, std::int64_t n, const T* y, const T* g, T* dx);
  void (*exp_sums)(std::int64_t rows, std::int64_t n, const T* x, ExpSum* sums);
  /// y[i] = factor exp(x[i] - shift) - offset.
  void (*exp_row)(std::int64_t n, const T* x, T shift, T factor, T offset, T* y);

  /// y = (x - mean) rstd [w] [+ b] of each row.
  void (*layer_norm)(std::int64_t rows, std::int64_t n, const T* x, const T* w, const T* b,
                     double eps, RowStatistics* statistics, T* y);
  /// Adds to dw and db, which have room for whole vectors.
  void (*layer_norm_backward)(std::int64_t rows, std::int64_t n, const T* x, const T* w, const T* g,
                              const RowStatistics* statistics, T* dx, double* dw, double* db);

  /// See Note [Attention in tiles]. y (queries, value width) = the mean of the values by the
  /// weights, which for query i are 2^(score - most[i]) · scale[i], 0 where it sees nothing.
  void (*attend)(const AttentionTile<T>& tile, Rows<T> y, T* most, T* scale);
  /// The gradient of the queries, and what they add to those of keys and values.
  void (*attend_backward)(const AttentionPull<T>& pull);
};

/// Those of the instruction set in use.
template <class T>
const VectorKernels<T>& vector_kernels();
/// Those of another, which this CPU must have.
template <class T>
const VectorKernels<T>& vector_kernels(Isa isa);

template <class T>
const VectorKernels<T>& base_kernels();
template <class T>
const VectorKernels<T>& avx2_kernels();
template <class T>
const VectorKernels<T>& avx512_kernels();

}  // namespace heed::kernels
