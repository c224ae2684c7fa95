#pragma once

#include <heed/autograd/kernels/vector/math.h>

// Functions of one element.

namespace heed::kernels {
namespace {

/// y[i] = f(x[i]).
template <class T, Vector<T> f(Vector<T>)>
void map(std::int64_t n, const T* x, T* y) {
  for_each_vector<T>(
      n, [=](std::int64_t i, auto lanes) { store<T>(y + i, f(load(x + i, lanes)), lanes); });
}

/// dx[i] = g[i] slope(x[i]).
template <class T, Vector<T> slope(Vector<T>)>
void map_backward(std::int64_t n, const T* x, const T* g, T* dx) {
  for_each_vector<T>(n, [=](std::int64_t i, auto lanes) {
    store<T>(dx + i, load(g + i, lanes) * slope(load(x + i, lanes)), lanes);
  });
}

}  // namespace
}  // namespace heed::kernels
