#include <heed/autograd/apply.h>
#include <heed/autograd/kernels/parallel.h>
#include <heed/autograd/kernels/vector_kernels.h>
#include <heed/autograd/map.h>
#include <heed/autograd/ops/arithmetic.h>
#include <heed/autograd/ops/elementwise.h>
#include <heed/autograd/ops/mask.h>
#include <heed/autograd/ops/reduce.h>
#include <heed/autograd/ops/shape.h>
#include <heed/autograd/ops/softmax.h>

namespace heed {
namespace {

/// y = f(x) of the rows of x, where `entry(table)` is f of the vector kernels.
template <class Entry>
Tensor map_rows(const Tensor& x, Entry entry) {
  const std::int64_t n = x.dim(-1);
  return detail::mapped(x, [&]<class T>(const T* from, T* to, std::int64_t numel) {
    if (numel == 0) return;
    kernels::parallel_for(
        numel / n, kernels::grain_of(numel / n, n), [=](std::int64_t begin, std::int64_t end) {
          entry(kernels::vector_kernels<T>())(end - begin, n, from + begin * n, to + begin * n);
        });
  });
}
/// dx from the output y.
template <class Entry>
Tensor map_rows_backward(const Tensor& y, const Tensor& g, Entry entry) {
  const std::int64_t n = y.dim(-1);
  return detail::mapped(y, [&]<class T>(const T* from, T* to, std::int64_t numel) {
    if (numel == 0) return;
    const T* up = g.data<T>().data();
    kernels::parallel_for(numel / n, kernels::grain_of(numel / n, n),
                          [=](std::int64_t begin, std::int64_t end) {
                            entry(kernels::vector_kernels<T>())(end - begin, n, from + begin * n,
                                                                up + begin * n, to + begin * n);
                          });
  });
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

/// dx = y (g - Σ g y) of y and g.
struct SoftmaxBackward {
  static constexpr std::string_view name = "softmax_backward";
  static constexpr Saves saves = Saves::inputs;
  Tensor forward(const Tensor& y, const Tensor& g) const {
    return map_rows_backward(y, g, [](auto& table) { return table.softmax_backward; });
  }
  Grads backward(const Context& ctx, const Tensor& u) const {
    const Tensor y = ctx.input(0), g = ctx.input(1);
    return {u * (g - sum(g * y, -1, true)) - g * sum(u * y, -1, true),
            apply(SoftmaxBackward{}, y, u)};
  }
};

struct Softmax {
  static constexpr std::string_view name = "softmax";
  static constexpr Saves saves = Saves::output;
  Tensor forward(const Tensor& x) const {
    return map_rows(x, [](auto& table) { return table.softmax; });
  }
  Grads backward(const Context& ctx, const Tensor& g) const {
    return {apply(SoftmaxBackward{}, ctx.output(), g)};
  }
};

/// dx = g - exp(y) Σ g of y and g, 0 in a row of -inf.
struct LogSoftmaxBackward {
  static constexpr std::string_view name = "log_softmax_backward";
  static constexpr Saves saves = Saves::inputs;
  Tensor forward(const Tensor& y, const Tensor& g) const {
    return map_rows_backward(y, g, [](auto& table) { return table.log_softmax_backward; });
  }
  Grads backward(const Context& ctx, const Tensor& u) const {
    const Tensor p = exp(ctx.input(0)), g = ctx.input(1);
    const Mask empty_row = sum(p.detach(), -1, true) == 0;
    return {-(u * p * sum(g, -1, true)), masked_fill(u - sum(u * p, -1, true), empty_row, 0)};
  }
};

struct LogSoftmax {
  static constexpr std::string_view name = "log_softmax";
  static constexpr Saves saves = Saves::output;
  Tensor forward(const Tensor& x) const {
    return map_rows(x, [](auto& table) { return table.log_softmax; });
  }
  Grads backward(const Context& ctx, const Tensor& g) const {
    return {apply(LogSoftmaxBackward{}, ctx.output(), g)};
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
