#include <heed/autograd/apply.h>
#include <heed/autograd/kernels/buffer.h>
#include <heed/autograd/kernels/parallel.h>
#include <heed/autograd/kernels/vector_kernels.h>
#include <heed/autograd/map.h>
#include <heed/autograd/ops/arithmetic.h>
#include <heed/autograd/ops/elementwise.h>
#include <heed/autograd/ops/mask.h>
#include <heed/autograd/ops/norm.h>
#include <heed/autograd/ops/reduce.h>

#include <algorithm>
#include <span>
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

/// Two sums over the rows of a matrix of n columns, apart for every chunk of rows: (chunks, 2,
/// width), where the width is a multiple of `unit`.
struct ChunkSums {
  std::int64_t grain, chunks, width;
  kernels::Buffer<double> buffer;

  ChunkSums(std::int64_t rows, std::int64_t n, std::int64_t unit)
      : grain(kernels::grain_of(rows, n)),
        chunks((rows + grain - 1) / grain),
        width((n + unit - 1) / unit * unit),
        buffer(chunks * 2 * width) {
    std::fill_n(buffer.data(), chunks * 2 * width, 0.);
  }
  double* of(std::int64_t first_row) const { return buffer.data() + first_row / grain * 2 * width; }
  template <class T>
  void add_up(std::int64_t which, std::span<T> out) const {
    for (std::size_t i = 0; i < out.size(); ++i) {
      double total = 0;
      for (std::int64_t chunk = 0; chunk < chunks; ++chunk)
        total += buffer.data()[(2 * chunk + which) * width + static_cast<std::int64_t>(i)];
      out[i] = static_cast<T>(total);
    }
  }
};

}  // namespace

namespace ops {

struct LayerNorm {
  static constexpr std::string_view name = "layer_norm";
  static constexpr Saves saves = Saves::inputs;
  double eps;
  std::vector<kernels::RowStatistics, CacheAllocator<kernels::RowStatistics>> statistics = {};

  Tensor forward(const Tensor& x, const Tensor& w, const Tensor& b) {
    const std::int64_t n = x.dim(-1), rows = x.numel() / n;
    statistics.resize(static_cast<std::size_t>(rows));
    return detail::mapped(x, [&]<class T>(const T* from, T* to, std::int64_t) {
      const T *weight = data_or_null<T>(w), *bias = data_or_null<T>(b);
      kernels::parallel_for(
          rows, kernels::grain_of(rows, n), [=, this](std::int64_t begin, std::int64_t end) {
            kernels::vector_kernels<T>().layer_norm(end - begin, n, from + begin * n, weight, bias,
                                                    eps, statistics.data() + begin, to + begin * n);
          });
    });
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
    const std::int64_t n = x.dim(-1), rows = x.numel() / n;
    Tensor dw = empty({n}, x.dtype()), db = empty({n}, x.dtype());
    const Tensor dx = detail::mapped(x, [&]<class T>(const T* from, T* to, std::int64_t) {
      const kernels::VectorKernels<T>& kernels = kernels::vector_kernels<T>();
      const T *up = g.data<T>().data(), *weight = data_or_null<T>(w);
      const ChunkSums sums(rows, n, kernels.width);
      kernels::parallel_for(rows, sums.grain, [&](std::int64_t begin, std::int64_t end) {
        double* of_chunk = sums.of(begin);
        kernels.layer_norm_backward(end - begin, n, from + begin * n, weight, up + begin * n,
                                    statistics.data() + begin, to + begin * n, of_chunk,
                                    of_chunk + sums.width);
      });
      sums.add_up(0, dw.mutate<T>());
      sums.add_up(1, db.mutate<T>());
    });
    return {dx, ctx.needs(1) ? dw : Tensor(), ctx.needs(2) ? db : Tensor()};
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
