#pragma once

#include <heed/autograd/kernels/buffer.h>
#include <heed/autograd/kernels/parallel.h>
#include <heed/autograd/kernels/vector_kernels.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

/// Reductions of an array seen as (outer, n, inner) over its middle axis, into (outer, inner).
namespace heed::kernels {

/// out[o, k] = factor · the sum of x[o, :, k], in f64. Long sums are made of those of parts of n,
/// whose length depends on the shape alone.
template <class T>
void sum(const T* x, T* out, std::int64_t outer, std::int64_t n, std::int64_t inner,
         double factor) {
  constexpr std::int64_t kColumns = 1024;
  const VectorKernels<T>& kernels = vector_kernels<T>();
  const std::int64_t rows = grain_of(n, inner), parts = n > rows ? (n - 1) / rows + 1 : 1;
  const Buffer<double> buffer(parts == 1 ? 0 : outer * parts * inner);
  double* const partial = buffer.data();
  for_each(outer * parts, std::min(n, rows) * inner, [=, &kernels](std::int64_t at) {
    const std::int64_t begin = at % parts * rows, count = std::min(rows, n - begin);
    const T* from = x + (at / parts * n + begin) * inner;
    std::array<double, kColumns> sums;
    for (std::int64_t k = 0; k < inner; k += kColumns) {
      const std::int64_t width = std::min(kColumns, inner - k);
      if (inner == 1) {
        sums[0] = kernels.sum(count, from);
      } else {
        sums.fill(0);
        kernels.add_rows(count, width, inner, from + k, sums.data());
      }
      for (std::int64_t j = 0; j < width; ++j) {
        const double total = sums[static_cast<std::size_t>(j)];
        if (parts == 1)
          out[at * inner + k + j] = static_cast<T>(factor * total);
        else
          partial[at * inner + k + j] = total;
      }
    }
  });
  if (parts == 1) return;
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t k = 0; k < inner; ++k) {
      double total = 0;
      for (std::int64_t part = 0; part < parts; ++part)
        total += partial[(o * parts + part) * inner + k];
      out[o * inner + k] = static_cast<T>(factor * total);
    }
}

/// out[o, k] = the Euclidean length of x[o, :, k]; the squares are summed in f64.
template <class T>
void length(const T* x, T* out, std::int64_t outer, std::int64_t n, std::int64_t inner) {
  for_each(outer, n * inner, [=](std::int64_t o) {
    if (inner == 1) {
      out[o] = static_cast<T>(std::sqrt(vector_kernels<T>().sum_of_squares(n, x + o * n)));
      return;
    }
    for (std::int64_t k = 0; k < inner; ++k) {
      double squares = 0;
      for (std::int64_t i = 0; i < n; ++i) {
        const auto v = static_cast<double>(x[(o * n + i) * inner + k]);
        squares += v * v;
      }
      out[o * inner + k] = static_cast<T>(std::sqrt(squares));
    }
  });
}

/// out[o, i, k] = the sum of x[o, 0..i, k], in f64.
template <class T>
void running_sum(const T* x, T* out, std::int64_t outer, std::int64_t n, std::int64_t inner) {
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t k = 0; k < inner; ++k) {
      double total = 0;
      for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t at = (o * n + i) * inner + k;
        out[at] = static_cast<T>(total += static_cast<double>(x[at]));
      }
    }
}

/// out[o, k] = the largest of x[o, :, k]; a NaN among them wins.
template <class T>
void largest(const T* x, T* out, std::int64_t outer, std::int64_t n, std::int64_t inner) {
  for_each(outer, n * inner, [=](std::int64_t o) {
    const T* rows = x + o * n * inner;
    if (inner == 1) {
      out[o] = vector_kernels<T>().largest(n, rows);
      return;
    }
    T* best = out + o * inner;
    std::copy_n(rows, inner, best);
    for (std::int64_t i = 1; i < n; ++i)
      for (std::int64_t k = 0; k < inner; ++k) {
        const T v = rows[i * inner + k];
        if (v > best[k] || v != v) best[k] = v;
      }
  });
}

/// out[o, k] = the first i at which x[o, i, k] is largest; the first NaN if there is one.
template <class T>
void first_largest(const T* x, std::int64_t* out, std::int64_t outer, std::int64_t n,
                   std::int64_t inner) {
  for_each(outer, n * inner, [=](std::int64_t o) {
    for (std::int64_t k = 0; k < inner; ++k) {
      const T* column = x + o * n * inner + k;
      std::int64_t best = 0;
      for (std::int64_t i = 1; i < n && column[best * inner] == column[best * inner]; ++i)
        if (column[i * inner] > column[best * inner] || column[i * inner] != column[i * inner])
          best = i;
      out[o * inner + k] = best;
    }
  });
}

}  // namespace heed::kernels
