#pragma once

#include <heed/autograd/kernels/attention_tile.h>
#include <heed/autograd/kernels/vector/lanes.h>
#include <heed/autograd/kernels/vector/product.h>

// Matrices turned block by block: as many rows as a vector has lanes, in registers.

namespace heed::kernels {
namespace {

/// Lane `i` of a pair of rows `Step` apart once both have exchanged what lies off the diagonal:
/// where it comes from, counted through the upper row and then the lower.
template <int Width, int Step, bool Lower>
constexpr int origin(int i) {
  const bool right = (i & Step) != 0;
  if (Lower) return right ? Width + i : i + Step;
  return right ? Width + i - Step : i;
}

template <class T, int Step, bool Lower>
inline Vector<T> exchanged(Vector<T> a, Vector<T> b) {
  constexpr int kWide = kWidth<T>;
  constexpr auto from = origin<kWide, Step, Lower>;
  if constexpr (kWide == 16)
    return __builtin_shufflevector(a, b, from(0), from(1), from(2), from(3), from(4), from(5),
                                   from(6), from(7), from(8), from(9), from(10), from(11), from(12),
                                   from(13), from(14), from(15));
  else if constexpr (kWide == 8)
    return __builtin_shufflevector(a, b, from(0), from(1), from(2), from(3), from(4), from(5),
                                   from(6), from(7));
  else if constexpr (kWide == 4)
    return __builtin_shufflevector(a, b, from(0), from(1), from(2), from(3));
  else
    return __builtin_shufflevector(a, b, from(0), from(1));
}

/// Element (i, j) becomes (j, i).
template <class T, int Step = 1>
inline void turn(Vector<T> (&rows)[kWidth<T>]) {
  if constexpr (Step < kWidth<T>) {
#pragma GCC unroll 16
    for (int i = 0; i < kWidth<T>; ++i)
      if (!(i & Step)) {
        const Vector<T> a = rows[i], b = rows[i + Step];
        rows[i] = exchanged<T, Step, false>(a, b);
        rows[i + Step] = exchanged<T, Step, true>(a, b);
      }
    turn<T, 2 * Step>(rows);
  }
}

/// The first n lanes, or all.
template <class T>
inline Vector<T> load_some(const T* from, std::int64_t n) {
  return n >= kWidth<T> ? load(from) : load(from, First{static_cast<int>(n)});
}
template <class T>
inline void store_some(T* to, Vector<T> v, std::int64_t n) {
  n >= kWidth<T> ? store(to, v) : store(to, v, First{static_cast<int>(n)});
}

/// to (columns, filled) = fromᵀ, each row of which is multiplied by `factor(column)`, a vector of
/// them; what is filled beyond the rows of `from` is 0.
template <class T, class Factor>
void transpose(std::int64_t rows, std::int64_t columns, Rows<const T> from, Factor factor,
               std::int64_t filled, Rows<T> to) {
  constexpr std::int64_t kWide = kWidth<T>;
  for (std::int64_t column = 0; column < columns; column += kWide) {
    const std::int64_t wide = least(columns - column, kWide);
    const Vector<T> scale = factor(column);
    for (std::int64_t row = 0; row < filled; row += kWide) {
      const T* source = from.data + row * from.row + column;
      Vector<T> block[kWide];
#pragma GCC unroll 16
      for (std::int64_t i = 0; i < kWide; ++i)
        block[i] = row + i < rows ? load_some(source + i * from.row, wide) * scale : Vector<T>{};
      turn<T>(block);
      T* target = to.data + column * to.row + row;
#pragma GCC unroll 16
      for (std::int64_t i = 0; i < kWide; ++i)
        if (i < wide) store_some(target + i * to.row, block[i], filled - row);
    }
  }
}

/// sums[i] = Σ a[i, :] b[i, :]
template <class T>
void row_products(std::int64_t rows, std::int64_t columns, Rows<const T> a, Rows<const T> b,
                  T* sums) {
  constexpr std::int64_t kWide = kWidth<T>;
  for (std::int64_t row = 0; row < rows; row += kWide) {
    Vector<T> block[kWide] = {};
    for (std::int64_t column = 0; column < columns; column += kWide) {
      const std::int64_t wide = least(columns - column, kWide);
#pragma GCC unroll 16
      for (std::int64_t i = 0; i < kWide; ++i)
        if (row + i < rows)
          block[i] += load_some(a.data + (row + i) * a.row + column, wide) *
                      load_some(b.data + (row + i) * b.row + column, wide);
    }
    turn<T>(block);
    Vector<T> total{};
#pragma GCC unroll 16
    for (std::int64_t i = 0; i < kWide; ++i) total += block[i];
    store(sums + row, total);
  }
}

}  // namespace
}  // namespace heed::kernels
