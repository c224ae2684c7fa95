#include <heed/autograd/apply.h>
#include <heed/autograd/kernels/parallel.h>
#include <heed/autograd/kernels/vector_kernels.h>
#include <heed/autograd/map.h>
#include <heed/autograd/ops/activation.h>
#include <heed/autograd/ops/arithmetic.h>
#include <heed/autograd/ops/elementwise.h>
#include <heed/autograd/ops/index.h>
#include <heed/autograd/ops/loss.h>
#include <heed/autograd/ops/mask.h>
#include <heed/autograd/ops/reduce.h>
#include <heed/autograd/ops/shape.h>
#include <heed/autograd/ops/softmax.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace heed {
namespace {

/// The targets that count, as a factor for each row, and what their sum is divided by.
struct Counted {
  Mask ignored;
  double divisor = 1;

  Counted(const Tokens& targets, const CrossEntropyOptions& options) {
    Mask::Values flags;
    for (const std::int64_t id : targets.data()) flags.push_back(id == options.ignore_index);
    ignored = Mask(std::move(flags), targets.shape());
    const auto counted = static_cast<double>(targets.numel() - ignored.count());
    if (options.reduction == Reduction::mean) divisor = std::max(counted, 1.);
  }
};

void require_targets(std::string_view op, const Tensor& x, const Tokens& targets,
                     const CrossEntropyOptions& options) {
  Shape rows = x.shape();
  if (!rows.empty()) rows.erase(rows.size() - 1);
  if (x.ndim() == 0 || rows != targets.shape())
    throw ShapeError(text(op, ": logits ", x.shape(), " and targets ", targets.shape(),
                          "; expected (..., V) and (...)"));
  if (!(options.label_smoothing >= 0 && options.label_smoothing <= 1))
    throw ValueError(text(op, ": label_smoothing ", options.label_smoothing, " is outside 0 to 1"));
  const std::int64_t classes = x.dim(-1);
  const auto ids = targets.data();
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (ids[i] != options.ignore_index && (ids[i] < 0 || ids[i] >= classes))
      throw IndexError(text(op, ": target ", ids[i], " at position ", i, " of ", targets.shape(),
                            " is outside 0 to ", classes - 1, " and is not the ignored ",
                            options.ignore_index));
}

/// The loss of every row from log-probabilities, in plain ops.
Tensor from_log_p(const Tensor& log_p, const Tokens& targets, const CrossEntropyOptions& options) {
  const Counted counted(targets, options);
  std::vector<std::int64_t> ids = targets.to_vector();
  std::ranges::replace(ids, options.ignore_index, std::int64_t{0});
  Shape column = targets.shape();
  column.push_back(1);
  const Tensor chosen = squeeze(gather(log_p, -1, Tokens(std::move(ids), column)), -1);
  Tensor loss = -chosen;
  if (const double s = options.label_smoothing; s > 0) loss = (1 - s) * loss - s * mean(log_p, -1);
  loss = masked_fill(loss, counted.ignored, 0);
  return options.reduction == Reduction::none ? loss : sum(loss) / counted.divisor;
}

}  // namespace

namespace ops {

struct CrossEntropy {
  static constexpr std::string_view name = "cross_entropy";
  static constexpr Saves saves = Saves::inputs;
  Tokens targets;
  CrossEntropyOptions options;
  std::vector<kernels::ExpSum, CacheAllocator<kernels::ExpSum>> rows = {};

  // -log p[target] = log(total) - (x[target] - shift), and -mean(log p) likewise
  Tensor forward(const Tensor& logits) {
    const std::int64_t classes = logits.dim(-1), count = targets.numel();
    const double s = options.label_smoothing;
    const std::int64_t* ids = targets.data().data();
    Tensor losses = empty(targets.shape(), f64);
    double* loss = losses.mutate<double>().data();
    rows.resize(static_cast<std::size_t>(count));
    dispatch(logits.dtype(), [&](auto t) {
      using T = decltype(t);
      const T* x = logits.data<T>().data();
      kernels::for_each(count, classes, [=, this](std::int64_t i) {
        loss[i] = 0;
        if (ids[i] == options.ignore_index) return;
        const kernels::VectorKernels<T>& kernels = kernels::vector_kernels<T>();
        const T* row = x + i * classes;
        kernels::ExpSum& sum = rows[static_cast<std::size_t>(i)];
        kernels.exp_sums(1, classes, row, &sum);
        if (std::isinf(sum.total)) sum.total = NAN;  // no softmax of a row with +inf
        const auto of = [&](double logit) {
          return sum.total == 0 ? infinity : std::log(sum.total) - (logit - sum.shift);
        };
        loss[i] = of(static_cast<double>(row[ids[i]]));
        if (s > 0)
          loss[i] =
              (1 - s) * loss[i] + s * of(kernels.sum(classes, row) / static_cast<double>(classes));
      });
    });
    if (options.reduction == Reduction::none) return losses.to(logits.dtype());
    const double total = std::accumulate(loss, loss + count, 0.);
    return full({}, total / Counted(targets, options).divisor, logits.dtype());
  }

  Tensor composed(const Tensor& logits) const {
    return from_log_p(log_softmax(logits), targets, options);
  }

  // dlogits = (softmax - target) g / divisor, where the target is one-hot, smoothed
  Grads backward(const Context& ctx, const Tensor& g) const {
    const Tensor logits = ctx.input(0);
    const std::int64_t classes = logits.dim(-1);
    const double divisor = Counted(targets, options).divisor;
    const double s = options.label_smoothing, each = s / static_cast<double>(classes);
    const std::int64_t* ids = targets.data().data();
    const bool one_g = options.reduction != Reduction::none;
    return {detail::mapped(logits, [&]<class T>(const T* x, T* to, std::int64_t) {
      const T* up = g.data<T>().data();
      kernels::for_each(targets.numel(), classes, [=, this](std::int64_t i) {
        const kernels::ExpSum& sum = rows[static_cast<std::size_t>(i)];
        T* out = to + i * classes;
        if (ids[i] == options.ignore_index || sum.total == 0) {
          std::fill_n(out, classes, T(0));
          return;
        }
        const double scale = static_cast<double>(up[one_g ? 0 : i]) / divisor;
        kernels::vector_kernels<T>().exp_row(classes, x + i * classes, static_cast<T>(sum.shift),
                                             static_cast<T>(scale / sum.total),
                                             static_cast<T>(each * scale), out);
        out[ids[i]] -= static_cast<T>((1 - s) * scale);
      });
    })};
  }
};

}  // namespace ops

Tensor cross_entropy(const Tensor& logits, const Tokens& targets, CrossEntropyOptions options) {
  require_targets("cross_entropy", logits, targets, options);
  return apply(ops::CrossEntropy{targets, options}, logits);
}

Tensor nll_loss(const Tensor& log_p, const Tokens& targets, CrossEntropyOptions options) {
  require_targets("nll_loss", log_p, targets, options);
  return from_log_p(log_p, targets, options);
}

namespace {

void require_target(std::string_view op, const Tensor& x, const Tensor& target) {
  if (x.shape() != target.shape())
    throw ShapeError(text(op, ": shapes ", x.shape(), " and ", target.shape(), " differ"));
  detail::require_same_dtype(op, x, target);
}

}  // namespace

Tensor mse_loss(const Tensor& x, const Tensor& target) {
  require_target("mse_loss", x, target);
  return mean(square(x - target));
}

Tensor l1_loss(const Tensor& x, const Tensor& target) {
  require_target("l1_loss", x, target);
  return mean(abs(x - target));
}

Tensor huber_loss(const Tensor& x, const Tensor& target, double delta) {
  require_target("huber_loss", x, target);
  if (!(delta > 0)) throw ValueError(text("huber_loss: delta ", delta, " is not positive"));
  const Tensor distance = abs(x - target), near = clamp(distance, 0, delta);
  return mean(0.5 * square(near) + delta * (distance - near));
}

Tensor binary_cross_entropy_with_logits(const Tensor& logits, const Tensor& target) {
  require_target("binary_cross_entropy_with_logits", logits, target);
  return mean(target * softplus(-logits) + (1 - target) * softplus(logits));
}

Tensor kl_div(const Tensor& log_p, const Tensor& target) {
  require_target("kl_div", log_p, target);
  const Mask none = target == 0;
  return mean(target * (log(masked_fill(target, none, 1)) - masked_fill(log_p, none, 0)));
}

}  // namespace heed
