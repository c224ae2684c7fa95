#pragma once

#include <heed/autograd/kernels/vector/transpose.h>

namespace heed::kernels {
namespace {

/// One panel: rows of `columns` elements, filled up with zeros to `width`.
template <class T>
void pack_panel(std::int64_t rows, std::int64_t columns, std::int64_t width, Strided<T> b,
                T* packed) {
  if (b.column != 1) {
    const auto as_they_are = [](std::int64_t) { return Vector<T>{} + 1; };
    return transpose<T>(columns, rows, {b.data, b.column}, as_they_are, width, {packed, width});
  }
  for (std::int64_t i = 0; i < rows; ++i, packed += width) {
    const T* from = b.data + i * b.row;
    std::int64_t j = 0;
    for (; j + kWidth<T> <= columns; j += kWidth<T>) store(packed + j, load(from + j));
    for (; j < columns; ++j) packed[j] = from[j];
    for (; j < width; ++j) packed[j] = 0;
  }
}

template <class T>
void pack(std::int64_t k, std::int64_t n, Strided<T> b, std::int64_t depth, std::int64_t begin,
          std::int64_t end, T* packed) {
  for (std::int64_t block = 0; block < k; block += depth) {
    const std::int64_t rows = least(k - block, depth);
    for (std::int64_t column = begin; column < end; column += kPanel<T>) {
      const std::int64_t columns = least(end - column, kPanel<T>);
      pack_panel(rows, columns, rounded_up(columns, kWidth<T>),
                 {b.data + block * b.row + column * b.column, b.row, b.column},
                 packed + block * rounded_up(n, kWidth<T>) + column * rows);
    }
  }
}

}  // namespace
}  // namespace heed::kernels
