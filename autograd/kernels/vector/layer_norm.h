#pragma once

#include <heed/autograd/kernels/vector/reduce.h>
#include <heed/autograd/kernels/vector/transpose.h>

// Layer norm, some rows at a time: what is summed over a short row waits longer for the sum across
// lanes, the division and the root than for all else, so these are made for a vector of rows.

namespace heed::kernels {
namespace {

/// x̂ = (x - mean) rstd, where x - mean is exact if x is near the mean: the mean as what T can hold
/// of it, and the rest.
template <class T>
struct Unit {
  T mean, rest, rstd;
  explicit Unit(double m, double r = 1)
      : mean(static_cast<T>(m)),
        rest(static_cast<T>(m - static_cast<double>(mean))),
        rstd(static_cast<T>(r)) {}
  Vector<T> centred(Vector<T> x) const { return (x - mean) - rest; }
  Vector<T> operator()(Vector<T> x) const { return centred(x) * rstd; }
};

constexpr int kRowsAtOnce = kWidth<double>;
/// Bytes of such rows that stay in the first-level cache; longer rows are read one by one.
constexpr std::int64_t kNearBytes = 32768;

/// Of each vector, the sum across its lanes, over `count`. `parts` holds anything afterwards.
inline void mean_across(Vector<double> (&parts)[kRowsAtOnce], std::int64_t count,
                        double (&means)[kRowsAtOnce]) {
  turn<double>(parts);
  Vector<double> total{};
#pragma GCC unroll 8
  for (int i = 0; i < kRowsAtOnce; ++i) total += parts[i];
  store(means, total / static_cast<double>(count));
}

/// Two passes: the variance is about the mean.
template <class T>
inline void row_statistics(int rows, std::int64_t n, const T* x, double eps,
                           RowStatistics* statistics) {
  Vector<double> parts[kRowsAtOnce] = {};
  double means[kRowsAtOnce], rstds[kRowsAtOnce];  // beyond `rows` of no meaning
  for (int row = 0; row < rows; ++row)
    parts[row] = sums_in_lanes<T>(
        n, [from = x + row * n](std::int64_t i, auto lanes) { return load(from + i, lanes); });
  mean_across(parts, n, means);
  for (int row = 0; row < rows; ++row)
    parts[row] = squares_in_lanes<T>(
        n, [from = x + row * n, unit = Unit<T>(means[row])](std::int64_t i, auto lanes) {
          return keep<T>(unit.centred(load(from + i, lanes)), T(0), lanes);
        });
  mean_across(parts, n, rstds);
  for (double& each : rstds) each = 1 / __builtin_sqrt(each + eps);
  for (int row = 0; row < rows; ++row) statistics[row] = {means[row], rstds[row]};
}

template <class T>
void layer_norm(std::int64_t rows, std::int64_t n, const T* x, const T* w, const T* b, double eps,
                RowStatistics* statistics, T* y) {
  const bool near = kRowsAtOnce * n * static_cast<std::int64_t>(sizeof(T)) <= kNearBytes;
  const int at_once = near ? kRowsAtOnce : 1;
  for (std::int64_t row = 0; row < rows; ++row, x += n, y += n, ++statistics) {
    if (row % at_once == 0)
      row_statistics(static_cast<int>(least(rows - row, at_once)), n, x, eps, statistics);
    const Unit<T> unit(statistics->mean, statistics->rstd);
    for_each_vector<T>(n, [=](std::int64_t i, auto lanes) {
      Vector<T> v = unit(load(x + i, lanes));
      if (w) v *= load(w + i, lanes);
      if (b) v += load(b + i, lanes);
      store<T>(y + i, v, lanes);
    });
  }
}

/// dx = rstd (gw - mean(gw) - x̂ mean(gw x̂)), gw = g w.
template <class T>
void layer_norm_backward(std::int64_t rows, std::int64_t n, const T* x, const T* w, const T* g,
                         const RowStatistics* statistics, T* dx, double* dw, double* db) {
  struct Sums {
    Vector<double> gw, slope;
  };
  const auto plus = [](Sums a, Sums b) { return Sums{a.gw + b.gw, a.slope + b.slope}; };
  const auto itself = [](Vector<double> v) { return v; };
  for (; rows > 0; --rows, x += n, g += n, dx += n, ++statistics) {
    const Unit<T> unit(statistics->mean, statistics->rstd);
    const auto weighted = [=](std::int64_t i, auto lanes) {
      const Vector<T> v = load(g + i, lanes);
      return w ? v * load(w + i, lanes) : v;
    };
    const Sums sums = reduce<T>(n, Sums{}, plus, [=](std::int64_t i, auto lanes) {
      fetch_ahead(x + i);
      fetch_ahead(g + i);
      fetch_ahead_to_write(dx + i);
      const Vector<T> up = load(g + i, lanes), v = unit(load(x + i, lanes));
      const Vector<T> gw = weighted(i, lanes);
      add_to<T>(dw + i, up * v);
      add_to<T>(db + i, up);
      return Sums{in_parts<T>(gw, itself), in_parts<T>(gw * v, itself)};
    });
    const double count = static_cast<double>(n);
    const T mean = static_cast<T>(fold(sums.gw, kPlus) / count);
    const T slope = static_cast<T>(fold(sums.slope, kPlus) / count);
    for_each_vector<T>(n, [=](std::int64_t i, auto lanes) {
      const Vector<T> v = unit(load(x + i, lanes));
      store<T>(dx + i, unit.rstd * (weighted(i, lanes) - mean - v * slope), lanes);
    });
  }
}

}  // namespace
}  // namespace heed::kernels
