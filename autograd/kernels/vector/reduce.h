#pragma once

#include <heed/autograd/kernels/vector/lanes.h>
#include <heed/autograd/kernels/vector_kernels.h>

// Sums, in f64, and maxima.

namespace heed::kernels {
namespace {

constexpr auto kPlus = [](auto a, auto b) { return a + b; };
/// A NaN among them loses, or wins.
constexpr auto kLarger = [](auto a, auto b) { return b > a ? b : a; };
constexpr auto kLargerOrNan = [](auto a, auto b) { return ((b > a) | (b != b)) ? b : a; };

/// The sum of f(i, lanes), vectors of T that hold 0 in other lanes, in parts: one in each lane.
template <class T, class F>
inline Vector<double> sums_in_lanes(std::int64_t n, F f) {
  return reduce<T>(n, Vector<double>{}, kPlus, [=](std::int64_t i, auto lanes) {
    return in_parts<T>(f(i, lanes), [](Vector<double> v) { return v; });
  });
}
/// So too that of their squares.
template <class T, class F>
inline Vector<double> squares_in_lanes(std::int64_t n, F f) {
  return reduce<T>(n, Vector<double>{}, kPlus, [=](std::int64_t i, auto lanes) {
    return in_parts<T>(f(i, lanes), [](Vector<double> v) { return v * v; });
  });
}
template <class T, class F>
inline double sum_of_all(std::int64_t n, F f) {
  return fold(sums_in_lanes<T>(n, f), kPlus);
}

template <class T>
constexpr T kLeast = -T(__builtin_inf());

template <class T, class Larger>
inline T largest_by(std::int64_t n, const T* x, Larger larger) {
  const Vector<T> best = reduce<T>(
      n, Vector<T>{} + kLeast<T>, larger,
      [=](std::int64_t i, auto lanes) { return keep<T>(load(x + i, lanes), kLeast<T>, lanes); });
  return fold(best, larger);
}

template <class T>
double sum(std::int64_t n, const T* x) {
  return sum_of_all<T>(n, [=](std::int64_t i, auto lanes) { return load(x + i, lanes); });
}

template <class T>
double sum_of_squares(std::int64_t n, const T* x) {
  const auto all = [=](std::int64_t i, auto lanes) { return load(x + i, lanes); };
  return fold(squares_in_lanes<T>(n, all), kPlus);
}

template <class T>
T largest(std::int64_t n, const T* x) {
  return largest_by(n, x, kLargerOrNan);
}

/// Adds v to the f64 at `to`, which has room for all lanes.
template <class T>
inline void add_to(double* to, Vector<T> v) {
  if constexpr (kSingle<T>) {
    double* upper = to + kWidth<double>;
    store<double>(to, load(to) + widen(lower_half(v)));
    store<double>(upper, load(upper) + widen(upper_half(v)));
  } else {
    store<double>(to, load(to) + v);
  }
}

/// sums[i] += x[0, i] + ... + x[Rows - 1, i].
template <class T, int Rows>
inline void add_rows(std::int64_t n, std::int64_t stride, const T* x, double* sums) {
  for_each_vector<T>(n, [=](std::int64_t i, auto lanes) {
    Vector<double> low = load(sums + i), high{};
    if constexpr (kSingle<T>) high = load(sums + i + kWidth<double>);
#pragma GCC unroll 4
    for (int row = 0; row < Rows; ++row) {
      const T* from = x + row * stride + i;
      fetch_ahead(from);
      const Vector<T> v = load(from, lanes);
      if constexpr (kSingle<T>) {
        low += widen(lower_half(v));
        high += widen(upper_half(v));
      } else {
        low += v;
      }
    }
    store<double>(sums + i, low);
    if constexpr (kSingle<T>) store<double>(sums + i + kWidth<double>, high);
  });
}

/// Four rows at a time, so that the sums are read and written less often.
template <class T>
void add_rows(std::int64_t rows, std::int64_t n, std::int64_t stride, const T* x, double* sums) {
  for (; rows >= 4; rows -= 4, x += 4 * stride) add_rows<T, 4>(n, stride, x, sums);
  for (; rows > 0; --rows, x += stride) add_rows<T, 1>(n, stride, x, sums);
}

}  // namespace
}  // namespace heed::kernels
