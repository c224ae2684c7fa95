#pragma once

#include <heed/autograd/broadcast.h>
#include <heed/autograd/kernels/parallel.h>
#include <heed/autograd/kernels/vector_kernels.h>
#include <heed/autograd/map.h>
#include <heed/autograd/tensor.h>

#include <string_view>

/// `map` and `zip` for the ops' own functions, which stand being called from several threads.
namespace heed::kernels {

/// to[i] = f(from[i]) for i < n.
template <class From, class To, class F>
void map_into(const From* from, To* to, std::int64_t n, F f) {
  parallel_for(n, grain_of(n), [=](std::int64_t begin, std::int64_t end) {
    const From* x = from;
    To* __restrict y = to;
    for (std::int64_t i = begin; i < end; ++i) y[i] = f(x[i]);
  });
}

/// out[i] = f(a[i], b[i]) over the broadcast.
template <class Out, class A, class B, class F>
void zip_into(Out* out, const A* a, const B* b, const Broadcast<2>& loop, F f) {
  const std::int64_t n = loop.numel();
  parallel_for(n, grain_of(n), [&](std::int64_t begin, std::int64_t end) {
    detail::zip_range(out, a, b, loop, begin, end, f);
  });
}

/// The same over the broadcast shape `shape`.
template <class Out, class A, class B, class F>
void zip_into(Out* out, const Shape& shape, const A* a, const Shape& a_shape, const B* b,
              const Shape& b_shape, F f) {
  zip_into(out, a, b, Broadcast<2>(shape, {a_shape, b_shape}), f);
}

/// As heed::map.
template <class F>
Tensor map(const Tensor& x, F f) {
  return detail::mapped(
      x, [&](const auto* from, auto* to, std::int64_t n) { map_into(from, to, n, f); });
}

/// y = f(x), where `entry(table)` is f of the vector kernels.
template <class Entry>
Tensor map_vectors(const Tensor& x, Entry entry) {
  return detail::mapped(x, [&]<class T>(const T* from, T* to, std::int64_t n) {
    parallel_for(n, column_grain(n, 1), [=](std::int64_t begin, std::int64_t end) {
      entry(vector_kernels<T>())(end - begin, from + begin, to + begin);
    });
  });
}

/// dx = g f'(x), of the same shapes.
template <class Entry>
Tensor map_vectors_backward(const Tensor& x, const Tensor& g, Entry entry) {
  return detail::mapped(x, [&]<class T>(const T* from, T* to, std::int64_t n) {
    const T* up = g.data<T>().data();
    parallel_for(n, column_grain(n, 1), [=](std::int64_t begin, std::int64_t end) {
      entry(vector_kernels<T>())(end - begin, from + begin, up + begin, to + begin);
    });
  });
}

/// As heed::zip.
template <class F>
Tensor zip(const Tensor& a, const Tensor& b, F f, std::string_view op = "zip") {
  return detail::zipped(op, a, b, [&](auto* y, const auto* p, const auto* q, const auto& loop) {
    zip_into(y, p, q, loop, f);
  });
}

}  // namespace heed::kernels
