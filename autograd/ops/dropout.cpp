#include <heed/autograd/apply.h>
#include <heed/autograd/kernels/dropout.h>
#include <heed/autograd/kernels/parallel.h>
#include <heed/autograd/ops/dropout.h>

#include <utility>

namespace heed {
namespace {
thread_local Rng* training_rng = nullptr;
}

Training::Training(Rng& rng) : before_(std::exchange(training_rng, &rng)) {}
Training::~Training() { training_rng = before_; }
Rng* Training::rng() { return training_rng; }

namespace ops {

/// Linear in x, so its gradient is the same op on g: the draws are remade from the counter.
struct Dropout {
  static constexpr std::string_view name = "dropout";
  static constexpr Saves saves = Saves::none;
  detail::Drop drop;
  Tensor forward(const Tensor& x) const {
    Tensor y = empty(x.shape(), x.dtype());
    dispatch(x.dtype(), [&](auto t) {
      using T = decltype(t);
      const T* from = x.data<T>().data();
      T* to = y.mutate<T>().data();
      const std::int64_t n = x.numel();
      kernels::parallel_for(n, kernels::grain_of(n), [&](std::int64_t begin, std::int64_t end) {
        kernels::DropFactors<T> factors(drop.draws, drop.p, begin);
        for (std::int64_t i = begin; i < end; ++i) {
          const T factor = factors.next();
          to[i] = factor == 0 ? T(0) : from[i] * factor;
        }
      });
    });
    return y;
  }
  Grads backward(const Context&, const Tensor& g) const { return {apply(*this, g)}; }
};

}  // namespace ops

detail::Drop detail::Drop::next(double p, std::int64_t cells) {
  if (!(p >= 0 && p <= 1)) throw ValueError(text("dropout: p ", p, " is outside 0 to 1"));
  Rng* rng = Training::rng();
  if (!rng || p == 0) return {};
  return {p, rng->reserve(static_cast<std::uint64_t>(cells))};
}

Tensor detail::Drop::operator()(const Tensor& x) const {
  return p == 0 ? x : apply(ops::Dropout{*this}, x);
}

Tensor dropout(const Tensor& x, double p) { return detail::Drop::next(p, x.numel())(x); }

}  // namespace heed
