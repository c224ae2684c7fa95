#pragma once

#include <heed/autograd/kernels/vector/math.h>
#include <heed/autograd/kernels/vector/reduce.h>

// Softmax and its relatives, row by row. What is summed is summed in f64.

namespace heed::kernels {
namespace {

inline float log(float x) { return __builtin_logf(x); }
inline double log(double x) { return __builtin_log(x); }

/// What is taken off a row before exp: the largest element, or 0 if that is infinite, since
/// infinity less itself is no number. A NaN loses here and comes back in the sum.
template <class T>
inline T shift_of(std::int64_t n, const T* x) {
  const T max = largest_by(n, x, kLarger);
  return __builtin_isinf(max) ? T(0) : max;
}
/// A row with an element of +inf has no softmax: NaN throughout.
inline double finite(double total) { return __builtin_isinf(total) ? __builtin_nan("") : total; }
/// exp(x - shift) and 0 outside of the lanes.
template <class T, class L>
inline Vector<T> exp_at(const T* x, T shift, L lanes) {
  return keep<T>(exp<T>(load(x, lanes) - shift), T(0), lanes);
}
template <class T>
inline double sum_of_exp(std::int64_t n, const T* x, T shift) {
  return sum_of_all<T>(n,
                       [=](std::int64_t i, auto lanes) { return exp_at<T>(x + i, shift, lanes); });
}

template <class T>
void softmax(std::int64_t rows, std::int64_t n, const T* x, T* y) {
  for (; rows > 0; --rows, x += n, y += n) {
    const T shift = shift_of(n, x);
    const double total = sum_of_all<T>(n, [=](std::int64_t i, auto lanes) {
      const Vector<T> e = exp_at<T>(x + i, shift, lanes);
      store<T>(y + i, e, lanes);
      return e;
    });
    const T scale = total == 0 ? T(0) : static_cast<T>(1 / finite(total));
    for_each_vector<T>(
        n, [=](std::int64_t i, auto lanes) { store<T>(y + i, load(y + i, lanes) * scale, lanes); });
  }
}

template <class T>
void softmax_backward(std::int64_t rows, std::int64_t n, const T* y, const T* g, T* dx) {
  for (; rows > 0; --rows, y += n, g += n, dx += n) {
    const T dot = static_cast<T>(sum_of_all<T>(
        n, [=](std::int64_t i, auto lanes) { return load(y + i, lanes) * load(g + i, lanes); }));
    for_each_vector<T>(n, [=](std::int64_t i, auto lanes) {
      store<T>(dx + i, load(y + i, lanes) * (load(g + i, lanes) - dot), lanes);
    });
  }
}

template <class T>
void log_softmax(std::int64_t rows, std::int64_t n, const T* x, T* y) {
  for (; rows > 0; --rows, x += n, y += n) {
    const T shift = shift_of(n, x);
    const double total = sum_of_exp(n, x, shift);
    const T log_total = total == 0 ? T(0) : log(static_cast<T>(finite(total)));
    for_each_vector<T>(n, [=](std::int64_t i, auto lanes) {
      store<T>(y + i, load(x + i, lanes) - shift - log_total, lanes);
    });
  }
}

template <class T>
void log_softmax_backward(std::int64_t rows, std::int64_t n, const T* y, const T* g, T* dx) {
  for (; rows > 0; --rows, y += n, g += n, dx += n) {
    const bool empty = sum_of_exp(n, y, T(0)) == 0;
    const T total = static_cast<T>(sum(n, g));
    for_each_vector<T>(n, [=](std::int64_t i, auto lanes) {
      const Vector<T> d = load(g + i, lanes) - exp<T>(load(y + i, lanes)) * total;
      store<T>(dx + i, empty ? Vector<T>{} : d, lanes);
    });
  }
}

template <class T>
void exp_sums(std::int64_t rows, std::int64_t n, const T* x, ExpSum* sums) {
  for (; rows > 0; --rows, x += n, ++sums) {
    const T shift = shift_of(n, x);
    *sums = {static_cast<double>(shift), sum_of_exp(n, x, shift)};
  }
}

template <class T>
void exp_row(std::int64_t n, const T* x, T shift, T factor, T offset, T* y) {
  for_each_vector<T>(n, [=](std::int64_t i, auto lanes) {
    store<T>(y + i, exp<T>(load(x + i, lanes) - shift) * factor - offset, lanes);
  });
}

}  // namespace
}  // namespace heed::kernels
