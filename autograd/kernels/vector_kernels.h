#pragma once

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

template <class T>
struct VectorKernels {
  std::int64_t panel;      ///< columns of b that are packed side by side
  std::int64_t width;      ///< of a vector
  std::int64_t tile_rows;  ///< rows of c that are made at a time

  /// Packs the columns [begin, end) of b (k, n), begin a multiple of `panel`: blocks of `depth`
  /// rows, within a block panels, within a panel row by row. The last panel is filled up with zeros
  /// to a multiple of `width`, so a dense b of one panel that has this width is packed as it is.
  void (*pack)(std::int64_t k, std::int64_t n, Strided<T> b, std::int64_t depth, std::int64_t begin,
               std::int64_t end, T* packed);
  /// The columns [begin, end) of c (m, n) = [bias +] a b, with b packed. Each element is summed in
  /// the order of k, whatever m and the columns are. k > 0.
  void (*multiply_packed)(std::int64_t m, std::int64_t n, std::int64_t k, Strided<T> a,
                          const T* packed, std::int64_t depth, std::int64_t begin, std::int64_t end,
                          T* c, const T* bias);
};

/// Those of the instruction set in use.
template <class T>
const VectorKernels<T>& vector_kernels();

template <class T>
const VectorKernels<T>& base_kernels();
template <class T>
const VectorKernels<T>& avx2_kernels();
template <class T>
const VectorKernels<T>& avx512_kernels();

}  // namespace heed::kernels
