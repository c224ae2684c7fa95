#include <heed/autograd/apply.h>
#include <heed/autograd/kernels/parallel.h>
#include <heed/autograd/kernels/rows.h>
#include <heed/autograd/map.h>
#include <heed/autograd/ops/arithmetic.h>
#include <heed/autograd/ops/elementwise.h>
#include <heed/autograd/ops/mask.h>
#include <heed/autograd/ops/norm.h>
#include <heed/autograd/ops/reduce.h>

#include <vector>

namespace heed {
namespace {

template <class T>
const T* data_or_null(const Tensor& x) {
  return x.defined() ? x.data<T>().data() : nullptr;
}

void require_eps(std::string_view op, double eps) {
  if (!(eps >= 0)) throw ValueError(text(op, ": eps ", eps, " is negative"));
}

void require_fit(std::string_view op, const Tensor& x, const Tensor& parameter,
                 std::string_view which) {
  if (x.ndim() == 0 || x.dim(-1) == 0)
    throw ShapeError(text(op, ": x ", x.shape(), " has no last axis to normalize"));
  if (!parameter.defined()) return;
  detail::require_same_dtype(op, x, parameter);
  if (parameter.shape() != Shape{x.dim(-1)})
    throw ShapeError(text(op, ": ", which, " ", parameter.shape(), " for x ", x.shape(),
                          "; expected (", x.dim(-1), ")"));
}

}  // namespace

namespace ops {

struct LayerNorm {
  static constexpr std::string_view name = "layer_norm";
  static constexpr Saves saves = Saves::inputs;
  double eps;
  std::vector<kernels::RowStatistics, CacheAllocator<kernels::RowStatistics>> rows = {};

  Tensor forward(const Tensor& x, const Tensor& w, const Tensor& b) {
    Tensor y = empty(x.shape(), x.dtype());
    const std::int64_t n = x.dim(-1), count = x.numel() / n;
    rows.resize(static_cast<std::size_t>(count));
    dispatch(x.dtype(), [&](auto t) {
      using T = decltype(t);
      const T* from = x.data<T>().data();
      T* to = y.mutate<T>().data();
      const T *weight = data_or_null<T>(w), *bias = data_or_null<T>(b);
      kernels::for_each(count, n, [=, this](std::int64_t i) {
        auto& row = rows[static_cast<std::size_t>(i)];
        row = kernels::row_statistics(from + i * n, n, eps);
        kernels::normalize_row(from + i * n, weight, bias, to + i * n, n, row);
      });
    });
    return y;
  }

  Tensor composed(const Tensor& x, const Tensor& w, const Tensor& b) const {
    Tensor centred = x - mean(x, -1, true);
    centred = centred - mean(centred, -1, true);  // what rounding the first mean left
    Tensor y = centred * rsqrt(mean(square(centred), -1, true) + eps);
    if (w.defined()) y = y * w;
    if (b.defined()) y = y + b;
    return y;
  }

  // x̂ = (x - mean) rstd, gw = g w: dx = rstd (gw - mean(gw) - x̂ mean(gw x̂)), dw = Σ g x̂, db = Σ g
  Grads backward(const Context& ctx, const Tensor& g) const {
    const Tensor x = ctx.input(0), w = ctx.input(1);
    const std::int64_t n = x.dim(-1), count = x.numel() / n;
    const std::int64_t grain = kernels::grain_of(count, n), chunks = (count + grain - 1) / grain;
    Tensor dx = empty(x.shape(), x.dtype()), dw = empty({n}, x.dtype());
    std::vector<double, CacheAllocator<double>> dw_sums(static_cast<std::size_t>(chunks * n));
    dispatch(x.dtype(), [&](auto t) {
      using T = decltype(t);
      const T *from = x.data<T>().data(), *up = g.data<T>().data();
      const T* weight = data_or_null<T>(w);
      T* to = dx.mutate<T>().data();
      kernels::parallel_for(count, grain, [&](std::int64_t begin, std::int64_t end) {
        double* dw_sum = dw_sums.data() + begin / grain * n;
        for (std::int64_t i = begin; i < end; ++i)
          kernels::normalize_backward_row(from + i * n, weight, up + i * n, to + i * n, dw_sum, n,
                                          rows[static_cast<std::size_t>(i)]);
      });
      kernels::sum(dw_sums.data(), dw.mutate<T>().data(), 1, chunks, n, 1.);
    });
    return {dx, ctx.needs(1) ? dw : Tensor(), ctx.needs(2) ? sum_to(g, ctx.shape(2)) : Tensor()};
  }
};

}  // namespace ops

Tensor layer_norm(const Tensor& x, const Tensor& w, const Tensor& b, double eps) {
  require_fit("layer_norm", x, w, "w");
  require_fit("layer_norm", x, b, "b");
  require_eps("layer_norm", eps);
  return apply(ops::LayerNorm{eps}, x, w, b);
}

Tensor rms_norm(const Tensor& x, const Tensor& w, double eps) {
  require_fit("rms_norm", x, w, "w");
  require_eps("rms_norm", eps);
  const Tensor y = x * rsqrt(mean(square(x), -1, true) + eps);
  return w.defined() ? y * w : y;
}

}  // namespace heed
