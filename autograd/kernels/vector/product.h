#pragma once

#include <heed/autograd/kernels/vector/vector.h>
#include <heed/autograd/kernels/vector_kernels.h>

// Products of matrices. A tile of the result, Rows x Vectors registers, collects the outer products
// of a column of a and a row of b; c is written once a block of b's rows. (Goto and van de Geijn,
// "Anatomy of High-Performance Matrix Multiplication", ACM TOMS 34 (3), 2008.)

namespace heed::kernels {
namespace {

/// Vectors side by side in a tile, and its rows: as many sums as there are registers, less those of
/// b and one of a.
constexpr int kTileVectors = kRegisters == 32 ? 4 : 2;
constexpr int kTileRows = kVectorBytes == 16 ? 4 : 6;
template <class T>
constexpr int kPanel = kTileVectors* kWidth<T>;

/// sum += a b for Rows rows of a and Vectors vectors of b's columns, of which each row begins at b
/// + i b_row. A whole tile fetches what comes next of a: the rows below or, where a is read down
/// its columns, the next cache line of each row.
template <class T, int Rows, int Vectors>
inline void add_product(Vector<T> (&sum)[Rows][Vectors], std::int64_t k, Strided<T> a, const T* b,
                        std::int64_t b_row) {
  constexpr std::int64_t kLine = 64 / sizeof(T);
  constexpr bool kFetch = Rows == kTileRows && Vectors == kTileVectors;
  constexpr int kParts = kFetch ? Rows : 1;
  const bool along = a.column == 1;
  std::int64_t i = 0;
  for (int part = 1; part <= kParts; ++part) {
    const std::int64_t end = k * part / kParts;
    const T* next = a.data + (along ? (Rows + part - 1) * a.row : i * a.column + kLine);
    for (; i < end; ++i) {
      if constexpr (kFetch) {
        __builtin_prefetch(next);
        next += along ? Rows : a.column;
      }
      Vector<T> right[Vectors];
      for (int v = 0; v < Vectors; ++v) right[v] = load(b + i * b_row + v * kWidth<T>);
      for (int r = 0; r < Rows; ++r) {
        const T left = a.data[r * a.row + i * a.column];
        for (int v = 0; v < Vectors; ++v) sum[r][v] += left * right[v];
      }
    }
  }
}

/// A tile of c (Rows, Vectors vectors) = start + a b. Always inlined, into what reads the words of
/// `a` one by one: passed on the stack, they were written as words and read as a vector, which
/// waits until all stores before it are done.
template <class T, int Rows, int Vectors>
[[gnu::always_inline]] inline void tile(std::int64_t k, Strided<T> a, const T* b,
                                        std::int64_t b_row, T* c, std::int64_t c_row,
                                        Start<T> start) {
  Vector<T> sum[Rows][Vectors];
#pragma GCC unroll 8
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v)
      sum[r][v] = start.data ? load(start.data + r * start.row + v * kWidth<T>) : Vector<T>{};
  add_product(sum, k, a, b, b_row);
#pragma GCC unroll 8
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) store(c + r * c_row + v * kWidth<T>, sum[r][v]);
}

/// c (m, Vectors vectors) = start + a b.
template <class T, int Vectors>
void panel_product(std::int64_t m, std::int64_t k, Strided<T> a, const T* b, std::int64_t b_row,
                   T* c, std::int64_t c_row, Start<T> start) {
  const auto rows = [&]<int Rows>() {
    tile<T, Rows, Vectors>(k, a, b, b_row, c, c_row, start);
    a.data += Rows * a.row;
    c += Rows * c_row;
    start.data += Rows * start.row;
    m -= Rows;
  };
  constexpr int kRows = Vectors < kTileVectors ? 8 : kTileRows;
  while (m >= kRows) rows.template operator()<kRows>();
  if (m >= 4) rows.template operator()<4>();
  if (m >= 2) rows.template operator()<2>();
  if (m >= 1) rows.template operator()<1>();
}

/// c (m, up to kTileVectors vectors) = start + a b. Rows of b and c hold whole vectors.
template <class T>
inline void panel_product(std::int64_t m, std::int64_t vectors, std::int64_t k, Strided<T> a,
                          const T* b, std::int64_t b_row, T* c, std::int64_t c_row,
                          Start<T> start) {
  if constexpr (kTileVectors == 4) {
    if (vectors == 4) return panel_product<T, 4>(m, k, a, b, b_row, c, c_row, start);
    if (vectors == 3) return panel_product<T, 3>(m, k, a, b, b_row, c, c_row, start);
  }
  if (vectors == 2) return panel_product<T, 2>(m, k, a, b, b_row, c, c_row, start);
  panel_product<T, 1>(m, k, a, b, b_row, c, c_row, start);
}

/// The columns of b are packed in panels of kPanel; the last one is as wide as its whole vectors.
/// See pack.h.
inline std::int64_t rounded_up(std::int64_t n, std::int64_t unit) {
  return (n + unit - 1) / unit * unit;
}
inline std::int64_t least(std::int64_t a, std::int64_t b) { return a < b ? a : b; }

/// As panel_product for a packed b, where the last vector of c's rows is partly outside: by way of
/// a tile that has room.
template <class T>
void edge_product(std::int64_t m, std::int64_t columns, std::int64_t k, Strided<T> a, const T* b,
                  T* c, std::int64_t c_row, Start<T> start) {
  constexpr int kRows = 8;
  const std::int64_t vectors = (columns + kWidth<T> - 1) / kWidth<T>;
  T room[kRows * kPanel<T>] = {};
  for (std::int64_t row = 0; row < m; row += kRows) {
    const std::int64_t rows = least(m - row, kRows);
    if (start.data)
      for (std::int64_t r = 0; r < rows; ++r)
        copy(start.data + (row + r) * start.row, columns, room + r * kPanel<T>);
    panel_product(rows, vectors, k, {a.data + row * a.row, a.row, a.column}, b, vectors * kWidth<T>,
                  room, kPanel<T>, start.data ? Start<T>{room, kPanel<T>} : start);
    for (std::int64_t r = 0; r < rows; ++r)
      copy(room + r * kPanel<T>, columns, c + (row + r) * c_row);
  }
}

template <class T>
void multiply_packed(std::int64_t m, std::int64_t n, std::int64_t k, Strided<T> a, const T* packed,
                     std::int64_t depth, std::int64_t begin, std::int64_t end, Rows<T> c,
                     Start<T> start) {
  for (std::int64_t block = 0; block < k; block += depth) {
    const std::int64_t rows = least(k - block, depth);
    const Strided<T> left{a.data + block * a.column, a.row, a.column};
    for (std::int64_t column = begin; column < end; column += kPanel<T>) {
      const std::int64_t columns = least(end - column, kPanel<T>);
      const std::int64_t vectors = (columns + kWidth<T> - 1) / kWidth<T>;
      const T* right = packed + block * rounded_up(n, kWidth<T>) + column * rows;
      T* to = c.data + column;
      const Start<T> first{start.data ? start.data + column : nullptr, start.row};
      if (columns % kWidth<T> == 0) {
        panel_product(m, vectors, rows, left, right, vectors * kWidth<T>, to, c.row,
                      block ? Start<T>{to, c.row} : first);
      } else {
        edge_product(m, columns, rows, left, right, to, c.row, block ? Start<T>{to, c.row} : first);
      }
    }
  }
}

}  // namespace
}  // namespace heed::kernels
