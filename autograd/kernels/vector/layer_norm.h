#pragma once

#include <heed/autograd/kernels/vector/reduce.h>

// Layer norm, row by row.

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

/// Two passes: the variance is about the mean.
template <class T>
inline RowStatistics row_statistics(std::int64_t n, const T* x, double eps) {
  const double count = static_cast<double>(n);
  const double mean = sum(n, x) / count;
  const Unit<T> unit(mean);
  const double squares = sum_of_squares_of_all<T>(n, [=](std::int64_t i, auto lanes) {
    return keep<T>(unit.centred(load(x + i, lanes)), T(0), lanes);
  });
  return {mean, 1 / __builtin_sqrt(squares / count + eps)};
}

template <class T>
void layer_norm(std::int64_t rows, std::int64_t n, const T* x, const T* w, const T* b, double eps,
                RowStatistics* statistics, T* y) {
  for (; rows > 0; --rows, x += n, y += n, ++statistics) {
    *statistics = row_statistics(n, x, eps);
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
