#include <heed/train/optimizers/adam.h>

#include <cmath>
#include <limits>
#include <utility>

namespace heed {
namespace {

template <class T>
struct AdamCoefficients {
  T keep1, take1;  // beta1, 1 - beta1
  T keep2, take2;
  T eps;
  T shrink;      // of the parameter: decoupled decay
  T l2;          // parameter's part in the gradient
  T rate;        // lr / (1 - beta1^t)
  T correction;  // 1 / sqrt(1 - beta2^t)
};

template <class T>
void descend(std::span<T> parameter, std::span<const T> gradient, std::span<T> mean,
             std::span<T> mean_square, const AdamCoefficients<T> c) {
  T* __restrict p = parameter.data();
  T* __restrict m = mean.data();
  T* __restrict v = mean_square.data();
  const T* __restrict g = gradient.data();
  for (std::size_t i = 0; i < parameter.size(); ++i) {
    const T d = g[i] + c.l2 * p[i];
    m[i] = c.keep1 * m[i] + c.take1 * d;
    v[i] = c.keep2 * v[i] + c.take2 * d * d;
    p[i] = c.shrink * p[i] - c.rate * m[i] / (std::sqrt(v[i]) * c.correction + c.eps);
  }
}

}  // namespace

Adam::Adam(std::string_view name, Parameters parameters, AdamOptions options, bool decoupled)
    : Optimizer(name, std::move(parameters),
                {options.lr, options.weight_decay, options.decays, options.groups},
                std::vector<std::string>{"exp_avg", "exp_avg_sq"}),
      options_(std::move(options)),
      decoupled_(decoupled) {
  check_range("beta1", options_.beta1, 0, 1);
  check_range("beta2", options_.beta2, 0, 1);
  check_range("eps", options_.eps, 0, std::numeric_limits<double>::infinity());
}

void Adam::update(Slot& slot, const Tensor& gradient) {
  const detail::AdamStep step{.lr = rate(slot),
                              .beta1 = options_.beta1,
                              .beta2 = options_.beta2,
                              .eps = options_.eps,
                              .l2 = decoupled_ ? 0 : slot.decay,
                              .shrink = decoupled_ ? slot.decay : 0,
                              .t = slot.steps.item()};
  step(slot.value, gradient, slot.moments[0], slot.moments[1]);
}

void detail::AdamStep::operator()(Tensor& value, const Tensor& gradient, Tensor& mean,
                                  Tensor& mean_square) const {
  const double of_mean = 1 - std::pow(beta1, t), of_square = 1 - std::pow(beta2, t);
  dispatch(value.dtype(), [&](auto zero) {
    using T = decltype(zero);
    descend(value.mutate<T>(), gradient.data<T>(), mean.mutate<T>(), mean_square.mutate<T>(),
            AdamCoefficients<T>{.keep1 = static_cast<T>(beta1),
                                .take1 = static_cast<T>(1 - beta1),
                                .keep2 = static_cast<T>(beta2),
                                .take2 = static_cast<T>(1 - beta2),
                                .eps = static_cast<T>(eps),
                                .shrink = static_cast<T>(1 - lr * shrink),
                                .l2 = static_cast<T>(l2),
                                .rate = static_cast<T>(lr / of_mean),
                                .correction = static_cast<T>(1 / std::sqrt(of_square))});
  });
}

}  // namespace heed
