#include <heed/autograd/apply.h>
#include <heed/autograd/broadcast.h>
#include <heed/autograd/kernels/parallel.h>
#include <heed/autograd/map.h>
#include <heed/autograd/ops/reduce.h>
#include <heed/autograd/ops/shape.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace heed {
namespace {

AxisList inverse(const AxisList& order) {
  AxisList back = order;
  for (std::size_t i = 0; i < order.size(); ++i)
    back[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  return back;
}

/// An array around one axis: (outer, length, inner).
struct Around {
  std::int64_t outer = 1, length, inner = 1;
  Around(const Shape& shape, std::size_t axis) : length(shape[axis]) {
    for (std::size_t i = 0; i < axis; ++i) outer *= shape[i];
    for (std::size_t i = axis + 1; i < shape.size(); ++i) inner *= shape[i];
  }
};

/// Copies `count` slabs from (outer, ., inner) to (outer, ., inner), from `from` in steps of
/// `from_step` to `to` in steps of `to_step` along the middle axis.
struct Slabs {
  std::int64_t from = 0, from_step = 1, to = 0, to_step = 1, count = 0;
};
void copy_slabs(const Tensor& x, const Around& in, Tensor& y, const Around& out, Slabs s) {
  if (in.inner == 0) return;
  dispatch(x.dtype(), [&](auto t) {
    using T = decltype(t);
    const T* source = x.data<T>().data();
    T* target = y.mutate<T>().data();
    const std::int64_t together =
        s.from_step == 1 && s.to_step == 1 ? std::max<std::int64_t>(s.count, 1) : 1;
    for (std::int64_t o = 0; o < in.outer; ++o)
      for (std::int64_t i = 0; i < s.count; i += together)
        std::copy_n(source + (o * in.length + s.from + i * s.from_step) * in.inner,
                    together * in.inner,
                    target + (o * out.length + s.to + i * s.to_step) * out.inner);
  });
}

Shape with_length(Shape shape, std::size_t axis, std::int64_t length) {
  shape[axis] = length;
  return shape;
}

}  // namespace

namespace ops {

struct Reshape {
  static constexpr std::string_view name = "reshape";
  static constexpr Saves saves = Saves::none;
  Shape shape;
  Tensor forward(const Tensor& x) const { return Tensor(x.storage(), shape, x.dtype()); }
  Grads backward(const Context& ctx, const Tensor& g) const { return {reshape(g, ctx.shape(0))}; }
};

struct Permute {
  static constexpr std::string_view name = "permute";
  static constexpr Saves saves = Saves::none;
  AxisList order;

  Tensor forward(const Tensor& x) const {
    const std::size_t rank = order.size();
    std::array<std::int64_t, Shape::kMaxRank> stride{};
    Shape shape;
    for (std::size_t i = 0; i < rank; ++i) {
      const auto axis = static_cast<std::size_t>(order[i]);
      shape.push_back(x.shape()[axis]);
      stride[i] = Around(x.shape(), axis).inner;
    }
    Tensor y = empty(shape, x.dtype());
    if (y.numel() == 0) return y;
    // The last axes that stay in place move as one block.
    std::size_t moving = rank;
    while (moving > 0 && order[moving - 1] == static_cast<std::int64_t>(moving - 1)) --moving;
    const std::int64_t block = moving == 0 ? y.numel() : Around(shape, moving - 1).inner;
    dispatch(x.dtype(), [&](auto t) {
      using T = decltype(t);
      const T* from = x.data<T>().data();
      T* to = y.mutate<T>().data();
      if (moving == 0) {
        std::copy_n(from, block, to);
        return;
      }
      const std::int64_t length = shape[0], each = y.numel() / length;
      kernels::parallel_for(
          length, kernels::grain_of(length, each), [&](std::int64_t begin, std::int64_t end) {
            T* target = to + begin * each;
            for (std::int64_t i = begin; i < end; ++i)
              copy_axis(from + i * stride[0], target, shape, stride, 1, moving, block);
          });
    });
    return y;
  }
  Grads backward(const Context&, const Tensor& g) const { return {permute(g, inverse(order))}; }

 private:
  template <class T>
  static void copy_axis(const T* from, T*& to, const Shape& shape,
                        const std::array<std::int64_t, Shape::kMaxRank>& stride, std::size_t axis,
                        std::size_t moving, std::int64_t block) {
    if (axis == moving) {
      to = std::copy_n(from, block, to);
    } else if (axis + 1 == moving && block == 1) {
      for (std::int64_t i = 0; i < shape[axis]; ++i) *to++ = from[i * stride[axis]];
    } else {
      for (std::int64_t i = 0; i < shape[axis]; ++i)
        copy_axis(from + i * stride[axis], to, shape, stride, axis + 1, moving, block);
    }
  }
};

struct BroadcastTo {
  static constexpr std::string_view name = "broadcast_to";
  static constexpr Saves saves = Saves::none;
  Shape shape;
  Tensor forward(const Tensor& x) const {
    if (!broadcasts_to(x.shape(), shape))
      throw ShapeError(text(name, ": shape ", x.shape(), " does not broadcast to ", shape));
    Tensor y = empty(shape, x.dtype());
    const Broadcast<1> loop(shape, {x.shape()});
    const std::int64_t n = loop.numel();
    const bool moves = loop.steps()[0] != 0;
    dispatch(x.dtype(), [&](auto t) {
      using T = decltype(t);
      const T* from = x.data<T>().data();
      T* to = y.mutate<T>().data();
      const auto copy = [=](std::int64_t at, const std::array<std::int64_t, 1>& i,
                            std::int64_t length) {
        if (moves)
          std::copy_n(from + i[0], length, to + at);
        else
          std::fill_n(to + at, length, from[i[0]]);
      };
      kernels::parallel_for(n, kernels::grain_of(n), [&](std::int64_t begin, std::int64_t end) {
        loop.for_each_run(begin, end, copy);
      });
    });
    return y;
  }
  Grads backward(const Context& ctx, const Tensor& g) const { return {sum_to(g, ctx.shape(0))}; }
};

struct Slice {
  static constexpr std::string_view name = "slice";
  static constexpr Saves saves = Saves::none;
  std::size_t axis;
  std::int64_t start, step, count;
  Tensor forward(const Tensor& x) const {
    Tensor y = empty(with_length(x.shape(), axis, count), x.dtype());
    copy_slabs(x, {x.shape(), axis}, y, {y.shape(), axis},
               {.from = start, .from_step = step, .count = count});
    return y;
  }
  Grads backward(const Context& ctx, const Tensor& g) const;
};

/// The reverse of Slice: x at its places in an axis of `length`, 0 elsewhere.
struct Scatter {
  static constexpr std::string_view name = "slice_scatter";
  static constexpr Saves saves = Saves::none;
  std::size_t axis;
  std::int64_t start, step, length;
  Tensor forward(const Tensor& x) const {
    Tensor y = zeros(with_length(x.shape(), axis, length), x.dtype());
    copy_slabs(x, {x.shape(), axis}, y, {y.shape(), axis},
               {.to = start, .to_step = step, .count = x.shape()[axis]});
    return y;
  }
  Grads backward(const Context& ctx, const Tensor& g) const {
    return {apply(Slice{axis, start, step, ctx.shape(0)[axis]}, g)};
  }
};

Grads Slice::backward(const Context& ctx, const Tensor& g) const {
  return {apply(Scatter{axis, start, step, ctx.shape(0)[axis]}, g)};
}

struct Concat {
  static constexpr std::string_view name = "concat";
  static constexpr Saves saves = Saves::none;
  std::size_t axis;
  Tensor forward(std::span<const Tensor> xs) const {
    std::int64_t length = 0;
    for (const Tensor& x : xs) {
      detail::require_same_dtype(name, xs[0], x);
      if (x.ndim() != xs[0].ndim() ||
          with_length(x.shape(), axis, 0) != with_length(xs[0].shape(), axis, 0))
        throw ShapeError(text(name, ": shapes ", xs[0].shape(), " and ", x.shape(),
                              " differ outside axis ", axis));
      length += x.shape()[axis];
    }
    Tensor y = empty(with_length(xs[0].shape(), axis, length), xs[0].dtype());
    std::int64_t at = 0;
    for (const Tensor& x : xs) {
      copy_slabs(x, {x.shape(), axis}, y, {y.shape(), axis}, {.to = at, .count = x.shape()[axis]});
      at += x.shape()[axis];
    }
    return y;
  }
  Grads backward(const Context& ctx, const Tensor& g) const {
    Grads grads;
    std::int64_t at = 0;
    for (std::size_t i = 0; i < ctx.inputs(); ++i) {
      const std::int64_t length = ctx.shape(i)[axis];
      grads.push_back(ctx.needs(i) ? slice(g, static_cast<std::int64_t>(axis), at, at + length)
                                   : Tensor());
      at += length;
    }
    return grads;
  }
};

struct Flip {
  static constexpr std::string_view name = "flip";
  static constexpr Saves saves = Saves::none;
  std::size_t axis;
  Tensor forward(const Tensor& x) const {
    Tensor y = empty(x.shape(), x.dtype());
    const std::int64_t length = x.shape()[axis];
    copy_slabs(x, {x.shape(), axis}, y, {y.shape(), axis},
               {.from = length - 1, .from_step = -1, .count = length});
    return y;
  }
  Grads backward(const Context&, const Tensor& g) const { return {apply(Flip{axis}, g)}; }
};

}  // namespace ops

Shape resolve_shape(std::string_view op, const Shape& from, const AxisList& axes) {
  Shape shape;
  std::size_t open = axes.size();
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] == -1) {
      if (open < axes.size()) throw ShapeError(text(op, ": only one length may be -1"));
      open = i;
      shape.push_back(1);
    } else {
      shape.push_back(axes[i]);
    }
  }
  if (std::ranges::any_of(shape, [](std::int64_t length) { return length < 0; }))
    throw ShapeError(text(op, ": lengths ", shape, " for the elements of ", from,
                          "; one may be -1, to be found, and the others not negative"));
  const std::int64_t known = shape.numel();
  if (open < axes.size()) {
    if (known == 0 || from.numel() % known != 0)
      throw ShapeError(text(op, ": no length for the -1 makes ", from.numel(), " elements of ",
                            from, " out of the other lengths, whose product is ", known));
    shape[open] = from.numel() / known;
  }
  if (shape.numel() != from.numel())
    throw ShapeError(text(op, ": ", from, " holds ", from.numel(), " elements, ", shape,
                          " would hold ", shape.numel()));
  return shape;
}

Tensor reshape(const Tensor& x, const AxisList& axes) {
  return apply(ops::Reshape{resolve_shape("reshape", x.shape(), axes)}, x);
}

Tensor permute(const Tensor& x, const AxisList& order) {
  AxisList axes;
  std::array<bool, AxisList::kMaxRank> named{};
  for (const std::int64_t axis : order) {
    const std::size_t at = normalize_axis("permute", axis, x.ndim());
    named[at] = true;
    axes.push_back(static_cast<std::int64_t>(at));
  }
  if (axes.size() != x.shape().size() || std::ranges::count(named, true) != x.ndim())
    throw ShapeError(text("permute: the order must name each of the ", x.ndim(), " axes of ",
                          x.shape(), " once"));
  return apply(ops::Permute{axes}, x);
}

Tensor transpose(const Tensor& x, std::int64_t a, std::int64_t b) {
  AxisList order = x.shape();
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[normalize_axis("transpose", a, x.ndim())],
            order[normalize_axis("transpose", b, x.ndim())]);
  return apply(ops::Permute{order}, x);
}

Tensor squeeze(const Tensor& x, std::int64_t axis) {
  const std::size_t at = normalize_axis("squeeze", axis, x.ndim());
  if (x.shape()[at] != 1)
    throw ShapeError(text("squeeze: axis ", axis, " of ", x.shape(), " does not have length 1"));
  Shape shape = x.shape();
  shape.erase(at);
  return reshape(x, shape);
}

Tensor unsqueeze(const Tensor& x, std::int64_t axis) {
  Shape shape = x.shape();
  shape.insert(normalize_axis("unsqueeze", axis, x.ndim() + 1), 1);
  return reshape(x, shape);
}

Tensor broadcast_to(const Tensor& x, const Shape& shape) {
  return x.shape() == shape ? x : apply(ops::BroadcastTo{shape}, x);
}

Tensor slice(const Tensor& x, std::int64_t axis, std::int64_t start, std::int64_t stop,
             std::int64_t step) {
  if (step < 1) throw ValueError(text("slice: step ", step, " is not positive; see flip"));
  const std::size_t at = normalize_axis("slice", axis, x.ndim());
  const std::int64_t length = x.shape()[at];
  const auto limit = [&](std::int64_t i) {
    return std::clamp<std::int64_t>(i < 0 ? i + length : i, 0, length);
  };
  start = limit(start);
  stop = std::max(start, limit(stop));
  const std::int64_t span = stop - start;
  return apply(ops::Slice{at, start, step, span / step + (span % step != 0)}, x);
}

Tensor concat(const std::vector<Tensor>& xs, std::int64_t axis) {
  if (xs.empty()) throw ShapeError("concat: no tensors given");
  return apply(ops::Concat{normalize_axis("concat", axis, xs[0].ndim())},
               std::span<const Tensor>(xs));
}

Tensor stack(const std::vector<Tensor>& xs, std::int64_t axis) {
  std::vector<Tensor> wide;
  for (const Tensor& x : xs) {
    if (x.shape() != xs[0].shape())
      throw ShapeError(text("stack: shapes ", xs[0].shape(), " and ", x.shape(), " differ"));
    wide.push_back(unsqueeze(x, axis));
  }
  return concat(wide, axis);
}

std::vector<Tensor> split(const Tensor& x, std::int64_t size, std::int64_t axis) {
  if (size < 1) throw ValueError(text("split: size ", size, " is not positive"));
  std::vector<std::int64_t> sizes;
  for (std::int64_t left = x.dim(axis); left > 0; left -= size)
    sizes.push_back(std::min(size, left));
  return split(x, sizes, axis);
}

std::vector<Tensor> split(const Tensor& x, const std::vector<std::int64_t>& sizes,
                          std::int64_t axis) {
  const std::int64_t total = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  if (total != x.dim(axis) || std::ranges::any_of(sizes, [](auto size) { return size < 0; }))
    throw ShapeError(
        text("split: sizes that add up to ", total, " for axis ", axis, " of ", x.shape()));
  std::vector<Tensor> parts;
  std::int64_t at = 0;
  for (const std::int64_t size : sizes) {
    parts.push_back(slice(x, axis, at, at + size));
    at += size;
  }
  return parts;
}

Tensor flip(const Tensor& x, std::int64_t axis) {
  return apply(ops::Flip{normalize_axis("flip", axis, x.ndim())}, x);
}

Tensor split_heads(const Tensor& x, std::int64_t heads) {
  if (x.ndim() != 3 || heads < 1 || x.dim(2) % heads != 0)
    throw ShapeError(text("split_heads: ", heads, " heads for shape ", x.shape(),
                          "; expected (B, T, C) with C a multiple of the heads"));
  return permute(reshape(x, {x.dim(0), x.dim(1), heads, x.dim(2) / heads}), {0, 2, 1, 3});
}

Tensor merge_heads(const Tensor& x) {
  if (x.ndim() != 4)
    throw ShapeError(text("merge_heads: shape ", x.shape(), "; expected (B, H, T, D)"));
  return reshape(permute(x, {0, 2, 1, 3}), {x.dim(0), x.dim(2), x.dim(1) * x.dim(3)});
}

}  // namespace heed
