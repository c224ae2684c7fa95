#pragma once

#include <heed/autograd/kernels/reduce.h>
#include <heed/autograd/kernels/vector_math.h>
#include <heed/autograd/memory.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

/// Kernels over the rows of a matrix: softmax and its relatives, layer norm, cross-entropy.
namespace heed::kernels {

inline double exp_of(double x) { return std::exp(x); }
inline float exp_of(float x) { return exp(x); }

template <class T>
T max_row(const T* x, std::int64_t n) {
  std::array<T, kLanes> lanes;
  lanes.fill(-std::numeric_limits<T>::infinity());
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (std::int64_t j = 0; j < kLanes; ++j) {
      T& lane = lanes[static_cast<std::size_t>(j)];
      lane = x[i + j] > lane ? x[i + j] : lane;
    }
  T best = *std::ranges::max_element(lanes);
  for (; i < n; ++i) best = x[i] > best ? x[i] : best;
  return best;
}

/// y = exp(x - max), returns its sum; a row of -inf gives zeros and 0.
template <class T>
T exp_row(const T* x, T* __restrict y, std::int64_t n, T max) {
  if (max == -std::numeric_limits<T>::infinity()) {
    // A NaN loses every comparison, so a row may hold one beside its -inf.
    T total = 0;
    for (std::int64_t i = 0; i < n; ++i) total += y[i] = std::isnan(x[i]) ? x[i] : T(0);
    return total;
  }
  for (std::int64_t i = 0; i < n; ++i) y[i] = exp_of(x[i] - max);
  return static_cast<T>(sum_row(y, n, [](T v) { return v; }));
}

template <class T>
void softmax_row(const T* x, T* __restrict y, std::int64_t n) {
  const T total = exp_row(x, y, n, max_row(x, n));
  if (total == 0) return;
  const T scale = 1 / total;
  for (std::int64_t i = 0; i < n; ++i) y[i] *= scale;
}

/// Calls `f(i, scratch)` for every row i < rows, in chunks, each with one row of n values that it
/// may write to.
template <class T, class F>
void for_each_row(std::int64_t rows, std::int64_t n, F f) {
  if (rows == 0) return;
  const std::int64_t grain = grain_of(rows, n), chunks = (rows - 1) / grain + 1;
  std::vector<T, CacheAllocator<T>> scratch(static_cast<std::size_t>(chunks * n));
  parallel_for(rows, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) f(i, scratch.data() + begin / grain * n);
  });
}

/// The log of the sum of exp(x[:]); writes to scratch.
template <class T>
T logsumexp_row(const T* x, T* __restrict scratch, std::int64_t n) {
  const T max = max_row(x, n);
  if (max == std::numeric_limits<T>::infinity())
    return std::any_of(x, x + n, [](T v) { return std::isnan(v); })
               ? std::numeric_limits<T>::quiet_NaN()
               : max;
  const T total = exp_row(x, scratch, n, max);
  return total == 0 ? -std::numeric_limits<T>::infinity() : max + std::log(total);
}

template <class T>
void log_softmax_row(const T* x, T* __restrict y, std::int64_t n) {
  const T max = max_row(x, n);
  const T total = exp_row(x, y, n, max);
  if (total == 0) {
    std::fill_n(y, n, -std::numeric_limits<T>::infinity());
    return;
  }
  const T log_total = std::log(total);
  for (std::int64_t i = 0; i < n; ++i) y[i] = (x[i] - max) - log_total;
}

struct RowStatistics {
  double mean;
  double rstd;  // 1 / sqrt(variance + eps)
};

/// Two passes: the variance is about the mean.
template <class T>
RowStatistics row_statistics(const T* x, std::int64_t n, double eps) {
  const auto count = static_cast<double>(n);
  const double mean = sum_row(x, n, [](T v) { return v; }) / count;
  const double variance = sum_row(x, n,
                                  [mean](T v) {
                                    const double d = static_cast<double>(v) - mean;
                                    return d * d;
                                  }) /
                          count;
  return {mean, 1 / std::sqrt(variance + eps)};
}

/// x - mean, exact where x is near it: the mean as what T can hold of it, and the rest.
template <class T>
struct Centred {
  T mean, rest;
  explicit Centred(double m)
      : mean(static_cast<T>(m)), rest(static_cast<T>(m - static_cast<double>(mean))) {}
  T operator()(T x) const { return (x - mean) - rest; }
};

/// y = (x - mean) rstd [w] [+ b].
template <class T>
void normalize_row(const T* x, const T* w, const T* b, T* __restrict y, std::int64_t n,
                   RowStatistics row) {
  const Centred<T> centred(row.mean);
  const T rstd = static_cast<T>(row.rstd);
  for (std::int64_t i = 0; i < n; ++i) {
    const T unit = centred(x[i]) * rstd;
    y[i] = (w ? unit * w[i] : unit) + (b ? b[i] : T(0));
  }
}

/// dx = rstd (gw - mean(gw) - x̂ mean(gw x̂)), gw = g w; adds g x̂ to dw.
template <class T>
void normalize_backward_row(const T* x, const T* w, const T* g, T* __restrict dx,
                            double* __restrict dw, std::int64_t n, RowStatistics row) {
  const Centred<T> centred(row.mean);
  const T rstd = static_cast<T>(row.rstd);
  std::array<double, kLanes> sums{}, dots{};
  const auto step = [&](std::int64_t i, std::size_t lane) {
    const T unit = centred(x[i]) * rstd;
    const T gw = w ? g[i] * w[i] : g[i];
    sums[lane] += static_cast<double>(gw);
    dots[lane] += static_cast<double>(gw * unit);
    dw[i] += static_cast<double>(g[i] * unit);
  };
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (std::int64_t j = 0; j < kLanes; ++j) step(i + j, static_cast<std::size_t>(j));
  for (; i < n; ++i) step(i, 0);
  double sum = 0, dot = 0;
  for (std::size_t lane = 0; lane < sums.size(); ++lane) {
    sum += sums[lane];
    dot += dots[lane];
  }
  const auto count = static_cast<double>(n);
  const T g_mean = static_cast<T>(sum / count), g_slope = static_cast<T>(dot / count);
  for (std::int64_t j = 0; j < n; ++j) {
    const T unit = centred(x[j]) * rstd;
    const T gw = w ? g[j] * w[j] : g[j];
    dx[j] = rstd * (gw - g_mean - unit * g_slope);
  }
}

}  // namespace heed::kernels
