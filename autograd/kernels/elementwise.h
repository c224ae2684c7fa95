#pragma once

#include <heed/autograd/broadcast.h>
#include <heed/autograd/kernels/parallel.h>
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

/// out[i] = f(a[i], b[i]) over the broadcast shape `shape`.
template <class Out, class A, class B, class F>
void zip_into(Out* out, const Shape& shape, const A* a, const Shape& a_shape, const B* b,
              const Shape& b_shape, F f) {
  const Broadcast<2> loop(shape, {a_shape, b_shape});
  const std::int64_t n = loop.numel();
  parallel_for(n, grain_of(n), [&](std::int64_t begin, std::int64_t end) {
    detail::zip_range(out, a, b, loop, begin, end, f);
  });
}

/// As heed::map.
template <class F>
Tensor map(const Tensor& x, F f) {
  detail::refuse_recording("map", x.requires_grad());
  Tensor y = empty(x.shape(), x.dtype());
  dispatch(x.dtype(), [&](auto t) {
    using T = decltype(t);
    map_into(x.data<T>().data(), y.mutate<T>().data(), x.numel(), f);
  });
  return y;
}

/// As heed::zip.
template <class F>
Tensor zip(const Tensor& a, const Tensor& b, F f, std::string_view op = "zip") {
  detail::refuse_recording(op, a.requires_grad() || b.requires_grad());
  detail::require_same_dtype(op, a, b);
  Tensor y = empty(broadcast_shapes(op, a.shape(), b.shape()), a.dtype());
  dispatch(a.dtype(), [&](auto t) {
    using T = decltype(t);
    zip_into(y.mutate<T>().data(), y.shape(), a.data<T>().data(), a.shape(), b.data<T>().data(),
             b.shape(), f);
  });
  return y;
}

}  // namespace heed::kernels
