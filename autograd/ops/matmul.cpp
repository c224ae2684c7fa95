#include <heed/autograd/apply.h>
#include <heed/autograd/broadcast.h>
#include <heed/autograd/kernels/gemm.h>
#include <heed/autograd/kernels/parallel.h>
#include <heed/autograd/map.h>
#include <heed/autograd/ops/arithmetic.h>
#include <heed/autograd/ops/elementwise.h>
#include <heed/autograd/ops/mask.h>
#include <heed/autograd/ops/matmul.h>
#include <heed/autograd/ops/reduce.h>
#include <heed/autograd/ops/shape.h>

#include <algorithm>

namespace heed {
namespace {

/// The axes before the last two.
Shape batch_axes(const Shape& shape) {
  return Shape(std::span<const std::int64_t>(shape.begin(), shape.size() - 2));
}

/// Product of the axes before the last.
std::int64_t rows_of(const Shape& shape) {
  std::int64_t rows = 1;
  for (std::size_t i = 0; i + 1 < shape.size(); ++i) rows *= shape[i];
  return rows;
}

bool batches_broadcast(const Shape& a, const Shape& b) {
  for (std::size_t i = 3; i <= std::min(a.size(), b.size()); ++i) {
    const std::int64_t x = a[a.size() - i], y = b[b.size() - i];
    if (x != y && x != 1 && y != 1) return false;
  }
  return true;
}

}  // namespace

namespace ops {

/// Of operands with at least two axes, whose shapes fit.
struct Matmul {
  static constexpr std::string_view name = "matmul";
  static constexpr Saves saves = Saves::inputs;
  bool transpose_a, transpose_b;

  Tensor forward(const Tensor& a, const Tensor& b) const {
    detail::require_same_dtype(name, a, b);
    const std::int64_t m = a.dim(transpose_a ? -1 : -2), k = a.dim(transpose_a ? -2 : -1);
    const std::int64_t n = b.dim(transpose_b ? -2 : -1);
    const Shape a_batch = batch_axes(a.shape()), b_batch = batch_axes(b.shape());
    const Shape batch = broadcast_shapes(name, a_batch, b_batch);
    Shape shape = batch;
    shape.push_back(m);
    shape.push_back(n);
    Tensor c = empty(shape, a.dtype());
    const Broadcast<2> loop(batch, {a_batch, b_batch});
    dispatch(a.dtype(), [&](auto t) {
      using T = decltype(t);
      const T *left = a.data<T>().data(), *right = b.data<T>().data();
      T* out = c.mutate<T>().data();
      const auto multiply = [&](std::int64_t at, const std::array<std::int64_t, 2>& from,
                                std::int64_t length) {
        for (std::int64_t i = 0; i < length; ++i)
          kernels::gemm(transpose_a, transpose_b, m, n, k,
                        left + (from[0] + i * loop.steps()[0]) * m * k,
                        right + (from[1] + i * loop.steps()[1]) * k * n, out + (at + i) * m * n);
      };
      kernels::parallel_for(
          loop.numel(), kernels::gemm_grain(loop.numel(), m, n, k),
          [&](std::int64_t begin, std::int64_t end) { loop.for_each_run(begin, end, multiply); });
    });
    return c;
  }

  // C = A B: dA = G Bᵀ, dB = Aᵀ G; where an operand came transposed, so does its gradient
  Grads backward(const Context& ctx, const Tensor& g) const {
    const Tensor a = ctx.input(0), b = ctx.input(1);
    Grads grads(2);
    if (ctx.needs(0)) {
      const Tensor da =
          transpose_a ? matmul(b, g, {transpose_b, true}) : matmul(g, b, {false, !transpose_b});
      grads[0] = sum_to(da, ctx.shape(0));
    }
    if (ctx.needs(1)) {
      const Tensor db =
          transpose_b ? matmul(g, a, {true, transpose_a}) : matmul(a, g, {!transpose_a, false});
      grads[1] = sum_to(db, ctx.shape(1));
    }
    return grads;
  }
};

/// y = x W + b, with the bias as what the product is added to.
struct Linear {
  static constexpr std::string_view name = "linear";
  static constexpr Saves saves = Saves::inputs;

  Tensor forward(const Tensor& x, const Tensor& w, const Tensor& b) const {
    const std::int64_t rows = rows_of(x.shape()), in = w.dim(0), out = w.dim(1);
    Shape shape = x.shape();
    shape.back() = out;
    Tensor y = empty(shape, x.dtype());
    dispatch(x.dtype(), [&](auto t) {
      using T = decltype(t);
      const T* bias = b.defined() ? b.data<T>().data() : nullptr;
      kernels::gemm(false, false, rows, out, in, x.data<T>().data(), w.data<T>().data(),
                    y.mutate<T>().data(), bias);
    });
    return y;
  }

  Tensor composed(const Tensor& x, const Tensor& w, const Tensor& b) const {
    return b.defined() ? matmul(x, w) + b : matmul(x, w);
  }

  // dx = G Wᵀ, dW = xᵀ G, db = the sum of G over its rows
  Grads backward(const Context& ctx, const Tensor& g) const {
    const Tensor x = ctx.input(0), w = ctx.input(1);
    const std::int64_t rows = rows_of(x.shape()), in = w.dim(0), out = w.dim(1);
    Grads grads(3);
    if (ctx.needs(0)) grads[0] = matmul(g, w, {.transpose_b = true});
    if (ctx.needs(1))
      grads[1] = matmul(reshape(x, {rows, in}), reshape(g, {rows, out}), {.transpose_a = true});
    if (ctx.needs(2)) grads[2] = sum_to(g, ctx.shape(2));
    return grads;
  }
};

}  // namespace ops

Tensor matmul(const Tensor& a, const Tensor& b, MatmulOptions options) {
  if (a.ndim() == 0 || b.ndim() == 0)
    throw ShapeError(text("matmul: shapes ", a.shape(), " and ", b.shape(),
                          "; a scalar has no rows or columns, multiply with *"));
  if ((options.transpose_a && a.ndim() == 1) || (options.transpose_b && b.ndim() == 1))
    throw ShapeError(text("matmul: shapes ", a.shape(), " and ", b.shape(),
                          "; an operand with one axis cannot be transposed"));
  const std::int64_t left = a.dim(options.transpose_a ? -2 : -1);
  const std::int64_t right = b.dim(options.transpose_b || b.ndim() == 1 ? -1 : -2);
  if (left != right || !batches_broadcast(a.shape(), b.shape()))
    throw ShapeError(text("matmul: shapes ", a.shape(), options.transpose_a ? " (transposed)" : "",
                          " and ", b.shape(), options.transpose_b ? " (transposed)" : "",
                          " do not fit: the inner lengths are ", left, " and ", right,
                          left == right ? ", but the axes before do not broadcast" : ""));
  if (a.ndim() == 1) return squeeze(matmul(unsqueeze(a, 0), b, options), b.ndim() == 1 ? 0 : -2);
  if (b.ndim() == 1) return squeeze(matmul(a, unsqueeze(b, 1), options), -1);
  if (a.ndim() > 2 && b.ndim() == 2 && !options.transpose_a) {
    // One matrix for the whole batch: a single large product, and no sum over the batch behind it.
    const Tensor rows = reshape(a, {rows_of(a.shape()), a.dim(-1)});
    const Tensor product = apply(ops::Matmul{false, options.transpose_b}, rows, b);
    Shape shape = a.shape();
    shape.back() = product.dim(1);
    return reshape(product, shape);
  }
  return apply(ops::Matmul{options.transpose_a, options.transpose_b}, a, b);
}

Tensor linear(const Tensor& x, const Tensor& w, const Tensor& b) {
  if (x.ndim() == 0 || w.ndim() != 2 || x.dim(-1) != w.dim(0) ||
      (b.defined() && b.shape() != Shape{w.dim(1)}))
    throw ShapeError(text("linear: x ", x.shape(), ", w ", w.shape(), ", b ",
                          b.defined() ? text(b.shape()) : "absent",
                          "; expected (..., in), (in, out) and (out)"));
  detail::require_same_dtype("linear", x, w);
  if (b.defined()) detail::require_same_dtype("linear", x, b);
  return apply(ops::Linear{}, x, w, b);
}

}  // namespace heed
