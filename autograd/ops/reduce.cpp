#include <heed/autograd/apply.h>
#include <heed/autograd/kernels/reduce.h>
#include <heed/autograd/map.h>
#include <heed/autograd/ops/arithmetic.h>
#include <heed/autograd/ops/elementwise.h>
#include <heed/autograd/ops/index.h>
#include <heed/autograd/ops/mask.h>
#include <heed/autograd/ops/reduce.h>
#include <heed/autograd/ops/shape.h>
#include <heed/autograd/ops/softmax.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace heed {
namespace {

/// Which axes of a shape are reduced, and the shapes that result.
struct Reduced {
  AxisList order;      // kept axes, then reduced ones
  Shape kept;          // with length 1 where an axis is reduced
  Shape dropped;       // without the reduced axes
  std::int64_t n = 1;  // elements that become one
  std::int64_t outer = 1, inner = 1;
  bool together = true;  // the reduced axes are neighbours: (outer, n, inner) without a copy

  Reduced(std::string_view op, const Shape& shape, const Axes& axes) : kept(shape) {
    std::array<bool, Shape::kMaxRank> gone{};
    std::ranges::fill(gone, axes.all);
    for (const std::int64_t axis : axes.list) {
      bool& flag = gone[normalize_axis(op, axis, shape.ndim())];
      if (flag) throw IndexError(text(op, ": axis ", axis, " is named twice"));
      flag = true;
    }
    AxisList last;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      (gone[i] ? last : order).push_back(static_cast<std::int64_t>(i));
      if (gone[i]) {
        together &= inner == 1;
        kept[i] = 1;
        n *= shape[i];
      } else {
        dropped.push_back(shape[i]);
        (last.empty() ? outer : inner) *= shape[i];
      }
    }
    for (const std::int64_t axis : last) order.push_back(axis);
  }

  const Shape& result(bool keepdim) const { return keepdim ? kept : dropped; }

  /// Calls `kernel(x, y, outer, n, inner)` on the elements of x in an order that makes the reduced
  /// ones neighbours.
  template <class Kernel>
  Tensor run(const Tensor& x, bool keepdim, Kernel kernel) const {
    const Tensor in = together ? x : permute(x, order);
    Tensor y = empty(result(keepdim), x.dtype());
    dispatch(x.dtype(), [&](auto t) {
      using T = decltype(t);
      kernel(in.data<T>().data(), y.mutate<T>().data(), together ? outer : y.numel(), n,
             together ? inner : 1);
    });
    return y;
  }
};

/// Throws ShapeError unless there is something to reduce.
void require_elements(std::string_view op, const Shape& shape, const Axes& axes) {
  if (Reduced(op, shape, axes).n == 0)
    throw ShapeError(
        text(op, ": nothing to reduce in shape ", shape, "; it has an axis of length 0"));
}

Tensor reduce_sum(std::string_view op, const Tensor& x, const Axes& axes, bool keepdim,
                  bool average) {
  const Reduced reduced(op, x.shape(), axes);
  const double factor = average ? 1. / static_cast<double>(reduced.n) : 1.;
  return reduced.run(x, keepdim, [factor](auto in, auto out, auto outer, auto n, auto inner) {
    kernels::sum(in, out, outer, n, inner, factor);
  });
}

/// g, which has the reduced shape, with the reduced axes back at length 1.
Tensor keep_axes(std::string_view op, const Tensor& g, const Shape& shape, const Axes& axes) {
  return reshape(g, Reduced(op, shape, axes).kept);
}

}  // namespace

namespace ops {

struct Sum {
  static constexpr std::string_view name = "sum";
  static constexpr Saves saves = Saves::none;
  Axes axes;
  bool keepdim;
  Tensor forward(const Tensor& x) const { return reduce_sum(name, x, axes, keepdim, false); }
  Grads backward(const Context& ctx, const Tensor& g) const {
    return {broadcast_to(keep_axes(name, g, ctx.shape(0), axes), ctx.shape(0))};
  }
};

struct Mean {
  static constexpr std::string_view name = "mean";
  static constexpr Saves saves = Saves::none;
  Axes axes;
  bool keepdim;
  Tensor forward(const Tensor& x) const { return reduce_sum(name, x, axes, keepdim, true); }
  Grads backward(const Context& ctx, const Tensor& g) const {
    const auto n = static_cast<double>(Reduced(name, ctx.shape(0), axes).n);
    return {broadcast_to(keep_axes(name, g, ctx.shape(0), axes) / n, ctx.shape(0))};
  }
};

struct Amax {
  static constexpr std::string_view name = "amax";
  static constexpr Saves saves = Saves::inputs | Saves::output;
  Axes axes;
  bool keepdim;
  Tensor forward(const Tensor& x) const {
    return Reduced(name, x.shape(), axes)
        .run(x, keepdim, [](auto in, auto out, auto outer, auto n, auto inner) {
          kernels::largest(in, out, outer, n, inner);
        });
  }
  // g over the number of elements that are largest, for each of them
  Grads backward(const Context& ctx, const Tensor& g) const {
    const Tensor x = ctx.input(0);
    const Mask others = x != keep_axes(name, ctx.output(), x.shape(), axes).detach();
    const Tensor winners = masked_fill(ones(x.shape(), x.dtype()), others, 0);
    const Tensor share = keep_axes(name, g, x.shape(), axes) / sum(winners, axes, true);
    return {masked_fill(broadcast_to(share, x.shape()), others, 0)};
  }
};

/// Of the rows of a matrix.
struct LogSumExp {
  static constexpr std::string_view name = "logsumexp";
  static constexpr Saves saves = Saves::inputs;
  Tensor forward(const Tensor& x) const {
    Tensor y = empty({x.dim(0)}, x.dtype());
    dispatch(x.dtype(), [&](auto t) {
      using T = decltype(t);
      const T* from = x.data<T>().data();
      T* to = y.mutate<T>().data();
      const std::int64_t n = x.dim(1);
      kernels::for_each(x.dim(0), n, [=](std::int64_t i) {
        kernels::ExpSum sum;
        kernels::vector_kernels<T>().exp_sums(1, n, from + i * n, &sum);
        to[i] = static_cast<T>(sum.shift + std::log(sum.total));
      });
    });
    return y;
  }
  // dy/dx = softmax(x), which is 0 in a row of -inf
  Grads backward(const Context& ctx, const Tensor& g) const {
    return {unsqueeze(g, -1) * softmax(ctx.input(0))};
  }
};

struct Norm {
  static constexpr std::string_view name = "norm";
  static constexpr Saves saves = Saves::inputs | Saves::output;
  Axes axes;
  bool keepdim;
  Tensor forward(const Tensor& x) const {
    return Reduced(name, x.shape(), axes)
        .run(x, keepdim, [](auto in, auto out, auto outer, auto n, auto inner) {
          kernels::length(in, out, outer, n, inner);
        });
  }
  // dy/dx = x / y, 0 where y is
  Grads backward(const Context& ctx, const Tensor& g) const {
    const Tensor y = keep_axes(name, ctx.output(), ctx.shape(0), axes);
    const Tensor per_length = keep_axes(name, g, ctx.shape(0), axes) / masked_fill(y, y == 0, 1);
    return {ctx.input(0) * masked_fill(per_length, y == 0, 0)};
  }
};

struct Cumsum {
  static constexpr std::string_view name = "cumsum";
  static constexpr Saves saves = Saves::none;
  std::int64_t axis;
  Tensor forward(const Tensor& x) const {
    const Reduced reduced(name, x.shape(), axis);
    Tensor y = empty(x.shape(), x.dtype());
    dispatch(x.dtype(), [&](auto t) {
      using T = decltype(t);
      kernels::running_sum(x.data<T>().data(), y.mutate<T>().data(), reduced.outer, reduced.n,
                           reduced.inner);
    });
    return y;
  }
  Grads backward(const Context&, const Tensor& g) const {
    return {flip(cumsum(flip(g, axis), axis), axis)};
  }
};

/// The inverse of broadcasting.
struct SumTo {
  static constexpr std::string_view name = "sum_to";
  static constexpr Saves saves = Saves::none;
  Shape shape;
  Tensor forward(const Tensor& x) const {
    if (!broadcasts_to(shape, x.shape()))
      throw ShapeError(text(name, ": shape ", shape, " does not broadcast to ", x.shape()));
    const std::size_t lead = x.shape().size() - shape.size();
    Axes axes;
    axes.all = false;
    for (std::size_t i = 0; i < x.shape().size(); ++i)
      if (i < lead || shape[i - lead] != x.shape()[i])
        axes.list.push_back(static_cast<std::int64_t>(i));
    return Tensor(reduce_sum(name, x, axes, true, false).storage(), shape, x.dtype());
  }
  Grads backward(const Context& ctx, const Tensor& g) const {
    return {broadcast_to(g, ctx.shape(0))};
  }
};

}  // namespace ops

Tensor sum(const Tensor& x, const Axes& axes, bool keepdim) {
  return apply(ops::Sum{axes, keepdim}, x);
}

Tensor mean(const Tensor& x, const Axes& axes, bool keepdim) {
  require_elements("mean", x.shape(), axes);
  return apply(ops::Mean{axes, keepdim}, x);
}

Tensor var(const Tensor& x, const Axes& axes, bool keepdim, double correction) {
  const auto n = static_cast<double>(Reduced("var", x.shape(), axes).n);
  if (!(n > correction))
    throw ShapeError(text("var: ", n, " elements of shape ", x.shape(),
                          " become one, which must be more than the correction ", correction));
  const Tensor centred = x - mean(x, axes, true);
  const Tensor left = square(sum(centred, axes, keepdim)) / n;  // by rounding the mean
  return (sum(square(centred), axes, keepdim) - left) / (n - correction);
}

Tensor amax(const Tensor& x, const Axes& axes, bool keepdim) {
  require_elements("amax", x.shape(), axes);
  return apply(ops::Amax{axes, keepdim}, x);
}

Tensor amin(const Tensor& x, const Axes& axes, bool keepdim) {
  require_elements("amin", x.shape(), axes);
  return -apply(ops::Amax{axes, keepdim}, -x);
}

Tensor logsumexp(const Tensor& x, const Axes& axes, bool keepdim) {
  require_elements("logsumexp", x.shape(), axes);
  const Reduced reduced("logsumexp", x.shape(), axes);
  const Tensor rows = reshape(permute(x, reduced.order), {x.numel() / reduced.n, reduced.n});
  return reshape(apply(ops::LogSumExp{}, rows), reduced.result(keepdim));
}

Tensor norm(const Tensor& x, const Axes& axes, bool keepdim) {
  return apply(ops::Norm{axes, keepdim}, x);
}

Tokens argmax(const Tensor& x, std::int64_t axis) {
  require_elements("argmax", x.shape(), axis);
  const Reduced reduced("argmax", x.shape(), axis);
  std::vector<std::int64_t> first(static_cast<std::size_t>(reduced.outer * reduced.inner));
  dispatch(x.dtype(), [&](auto t) {
    kernels::first_largest(x.data<decltype(t)>().data(), first.data(), reduced.outer, reduced.n,
                           reduced.inner);
  });
  return Tokens(std::move(first), reduced.dropped);
}

MaxResult max(const Tensor& x, std::int64_t axis, bool keepdim) {
  require_elements("max", x.shape(), axis);
  const Reduced reduced("max", x.shape(), axis);
  const Tokens indices = argmax(x, axis);
  const Tensor values = gather(x, axis, indices.reshape(reduced.kept));
  return {reshape(values, reduced.result(keepdim)), indices.reshape(reduced.result(keepdim))};
}

Tensor cumsum(const Tensor& x, std::int64_t axis) {
  return apply(ops::Cumsum{static_cast<std::int64_t>(normalize_axis("cumsum", axis, x.ndim()))}, x);
}

Tensor sum_to(const Tensor& x, const Shape& shape) {
  return x.shape() == shape ? x : apply(ops::SumTo{shape}, x);
}

}  // namespace heed
