#pragma once

#include <heed/autograd/broadcast.h>
#include <heed/autograd/error.h>
#include <heed/autograd/grad_mode.h>
#include <heed/autograd/tensor.h>

#include <string_view>

namespace heed {

namespace detail {

/// A loop has no derivative: throws GraphError if the graph would be cut here without a word.
inline void refuse_recording(std::string_view loop, bool requires_grad) {
  if (requires_grad && grad_enabled())
    throw GraphError(text(loop,
                          ": a plain loop has no derivative; call it in the forward of an op "
                          "that has a backward, or under NoGrad"));
}

template <class T>
void require_same_dtype(std::string_view op, const T& a, const T& b) {
  if (a.dtype() != b.dtype())
    throw DTypeError(
        text(op, ": element types ", a.dtype(), " and ", b.dtype(), " do not mix; see to()"));
}

/// out[i] = f(a[i], b[i]) over the elements [begin, end) of the broadcast.
template <class Out, class A, class B, class F>
void zip_range(Out* out, const A* a, const B* b, const Broadcast<2>& loop, std::int64_t begin,
               std::int64_t end, F f) {
  const bool a_moves = loop.steps()[0] != 0, b_moves = loop.steps()[1] != 0;
  const auto zip_run = [&](std::int64_t at, const std::array<std::int64_t, 2>& from,
                           std::int64_t n) {
    Out* __restrict y = out + at;
    const A* p = a + from[0];
    const B* q = b + from[1];
    if (a_moves && b_moves) {
      for (std::int64_t i = 0; i < n; ++i) y[i] = f(p[i], q[i]);
    } else if (a_moves) {
      const B right = *q;
      for (std::int64_t i = 0; i < n; ++i) y[i] = f(p[i], right);
    } else {
      const A left = *p;
      for (std::int64_t i = 0; i < n; ++i) y[i] = f(left, q[b_moves ? i : 0]);
    }
  };
  loop.for_each_run(begin, end, zip_run);
}

/// y of x's shape, which `into(from, to, n)` fills.
template <class Into>
Tensor mapped(const Tensor& x, Into into) {
  refuse_recording("map", x.requires_grad());
  Tensor y = empty(x.shape(), x.dtype());
  dispatch(x.dtype(), [&](auto t) {
    using T = decltype(t);
    into(x.data<T>().data(), y.mutate<T>().data(), x.numel());
  });
  return y;
}

/// y of the broadcast shape, which `into(y, a, b, loop)` fills.
template <class Into>
Tensor zipped(std::string_view op, const Tensor& a, const Tensor& b, Into into) {
  refuse_recording(op, a.requires_grad() || b.requires_grad());
  require_same_dtype(op, a, b);
  Tensor y = empty(broadcast_shapes(op, a.shape(), b.shape()), a.dtype());
  const Broadcast<2> loop(y.shape(), {a.shape(), b.shape()});
  dispatch(a.dtype(), [&](auto t) {
    using T = decltype(t);
    into(y.mutate<T>().data(), a.data<T>().data(), b.data<T>().data(), loop);
  });
  return y;
}

}  // namespace detail

/// y[i] = f(x[i]), for the forward of an op. `f` is called with float or double and returns the
/// same, on the caller's thread, whatever `set_threads` says. Throws GraphError where it would cut
/// the graph.
template <class F>
Tensor map(const Tensor& x, F f) {
  return detail::mapped(x, [&](const auto* from, auto* __restrict to, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) to[i] = f(from[i]);
  });
}

/// y[i] = f(a[i], b[i]) with broadcasting, for the forward of an op; `f` runs on the caller's
/// thread. Throws GraphError where it would cut the graph, ShapeError and DTypeError where the
/// operands do not fit.
template <class F>
Tensor zip(const Tensor& a, const Tensor& b, F f, std::string_view op = "zip") {
  return detail::zipped(op, a, b, [&](auto* y, const auto* p, const auto* q, const auto& loop) {
    detail::zip_range(y, p, q, loop, 0, loop.numel(), f);
  });
}

}  // namespace heed
