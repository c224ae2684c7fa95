#include <heed/autograd/apply.h>
#include <heed/autograd/kernels/rows.h>
#include <heed/autograd/map.h>
#include <heed/autograd/ops/arithmetic.h>
#include <heed/autograd/ops/elementwise.h>
#include <heed/autograd/ops/mask.h>
#include <heed/autograd/ops/reduce.h>
#include <heed/autograd/ops/shape.h>
#include <heed/autograd/ops/softmax.h>

namespace heed {
namespace {

/// A tensor of x's shape whose rows `kernel(from, to, length)` writes.
template <class Kernel>
Tensor map_rows(const Tensor& x, Kernel kernel) {
  Tensor y = empty(x.shape(), x.dtype());
  if (x.numel() == 0) return y;
  dispatch(x.dtype(), [&](auto t) {
    using T = decltype(t);
    const T* from = x.data<T>().data();
    T* to = y.mutate<T>().data();
    const std::int64_t n = x.dim(-1), rows = x.numel() / n;
    kernels::for_each(rows, n, [=](std::int64_t i) { kernel(from + i * n, to + i * n, n); });
  });
  return y;
}

/// `f` of x with the axis moved to the end, and back.
template <class F>
Tensor on_last_axis(std::string_view op, const Tensor& x, std::int64_t axis, F f) {
  const auto at = static_cast<std::int64_t>(normalize_axis(op, axis, x.ndim()));
  if (at == x.ndim() - 1) return f(x);
  return transpose(f(transpose(x, at, -1)), at, -1);
}

}  // namespace

namespace ops {

struct Softmax {
  static constexpr std::string_view name = "softmax";
  static constexpr Saves saves = Saves::output;
  Tensor forward(const Tensor& x) const {
    return map_rows(x, [](auto from, auto to, auto n) { kernels::softmax_row(from, to, n); });
  }
  // dx = y (g - Σ g y)
  Grads backward(const Context& ctx, const Tensor& g) const {
    const Tensor y = ctx.output(), gy = g * y;
    return {gy - y * sum(gy, -1, true)};
  }
};

struct LogSoftmax {
  static constexpr std::string_view name = "log_softmax";
  static constexpr Saves saves = Saves::output;
  Tensor forward(const Tensor& x) const {
    return map_rows(x, [](auto from, auto to, auto n) { kernels::log_softmax_row(from, to, n); });
  }
  // dx = g - exp(y) Σ g, 0 in a row of -inf
  Grads backward(const Context& ctx, const Tensor& g) const {
    const Tensor y = ctx.output();
    if (y.numel() == 0) return {g};
    const Mask empty_row = amax(y.detach(), -1, true) == -infinity;
    return {masked_fill(g - exp(y) * sum(g, -1, true), empty_row, 0)};
  }
};

}  // namespace ops

Tensor softmax(const Tensor& x, std::int64_t axis) {
  return on_last_axis("softmax", x, axis, [](const Tensor& r) { return apply(ops::Softmax{}, r); });
}
Tensor log_softmax(const Tensor& x, std::int64_t axis) {
  return on_last_axis("log_softmax", x, axis,
                      [](const Tensor& r) { return apply(ops::LogSoftmax{}, r); });
}

}  // namespace heed
