#pragma once

#include <heed/autograd/kernels/parallel.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

/// Reductions of an array seen as (outer, n, inner) over its middle axis, into (outer, inner).
namespace heed::kernels {

inline constexpr std::int64_t kLanes = 16;

/// f(x[0]) + ... + f(x[n-1]) in f64. The partial sums are fixed, so the bits depend on n alone.
template <class T, class F>
double sum_row(const T* x, std::int64_t n, F f) {
  std::array<double, kLanes> lanes{};
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (std::int64_t j = 0; j < kLanes; ++j)
      lanes[static_cast<std::size_t>(j)] += static_cast<double>(f(x[i + j]));
  double total = 0;
  for (; i < n; ++i) total += static_cast<double>(f(x[i]));
  for (const double lane : lanes) total += lane;
  return total;
}

/// out[o, k] = factor · the sum of x[o, :, k], in f64 and in the order of the rows.
template <class T, class Out>
void sum(const T* x, Out* out, std::int64_t outer, std::int64_t n, std::int64_t inner,
         double factor) {
  if (inner == 1) {
    for_each(outer, n, [=](std::int64_t o) {
      out[o] = static_cast<Out>(factor * sum_row(x + o * n, n, [](T v) { return v; }));
    });
    return;
  }
  constexpr std::int64_t kColumns = 64;
  const std::int64_t blocks = (inner + kColumns - 1) / kColumns;
  for_each(outer * blocks, n * kColumns, [=](std::int64_t block) {
    const std::int64_t o = block / blocks, first = block % blocks * kColumns;
    const std::int64_t width = std::min(kColumns, inner - first);
    std::array<double, kColumns> columns{};
    double* __restrict total = columns.data();
    for (std::int64_t i = 0; i < n; ++i) {
      const T* row = x + (o * n + i) * inner + first;
      for (std::int64_t k = 0; k < width; ++k) total[k] += static_cast<double>(row[k]);
    }
    Out* to = out + o * inner + first;
    for (std::int64_t k = 0; k < width; ++k) to[k] = static_cast<Out>(factor * total[k]);
  });
}

/// out[o, k] = the Euclidean length of x[o, :, k]; the squares are summed in f64.
template <class T>
void length(const T* x, T* out, std::int64_t outer, std::int64_t n, std::int64_t inner) {
  for_each(outer, n * inner, [=](std::int64_t o) {
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
