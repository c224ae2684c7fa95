#include <heed/train/optimizers/lion.h>

#include <utility>

namespace heed {
namespace {

template <class T>
struct LionCoefficients {
  T keep1, take1;  // beta1, 1 - beta1
  T keep2, take2;
  T shrink;  // of the parameter: decay
  T rate;
};

template <class T>
void descend(std::span<T> parameter, std::span<const T> gradient, std::span<T> momentum,
             const LionCoefficients<T> c) {
  T* __restrict p = parameter.data();
  T* __restrict m = momentum.data();
  const T* __restrict g = gradient.data();
  for (std::size_t i = 0; i < parameter.size(); ++i) {
    const T u = c.keep1 * m[i] + c.take1 * g[i];
    const T sign = static_cast<T>((u > 0) - (u < 0));
    m[i] = c.keep2 * m[i] + c.take2 * g[i];
    p[i] = c.shrink * p[i] - c.rate * sign;
  }
}

}  // namespace

Lion::Lion(Parameters parameters, LionOptions options)
    : Optimizer("lion", std::move(parameters),
                {options.lr, options.weight_decay, options.decays, options.groups},
                std::vector<std::string>{"momentum"}),
      options_(std::move(options)) {
  check_range("beta1", options_.beta1, 0, 1);
  check_range("beta2", options_.beta2, 0, 1);
}

void Lion::update(Slot& slot, const Tensor& gradient) {
  dispatch(slot.value.dtype(), [&](auto zero) {
    using T = decltype(zero);
    descend(slot.value.mutate<T>(), gradient.data<T>(), slot.moments[0].mutate<T>(),
            LionCoefficients<T>{.keep1 = static_cast<T>(options_.beta1),
                                .take1 = static_cast<T>(1 - options_.beta1),
                                .keep2 = static_cast<T>(options_.beta2),
                                .take2 = static_cast<T>(1 - options_.beta2),
                                .shrink = static_cast<T>(1 - rate(slot) * slot.decay),
                                .rate = static_cast<T>(rate(slot))});
  });
}

}  // namespace heed
