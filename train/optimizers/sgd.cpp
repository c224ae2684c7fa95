#include <heed/autograd/error.h>
#include <heed/train/optimizers/sgd.h>

#include <utility>

namespace heed {
namespace {

template <class T>
void descend(std::span<T> parameter, std::span<const T> gradient, T lr, T decay) {
  T* __restrict p = parameter.data();
  const T* __restrict g = gradient.data();
  for (std::size_t i = 0; i < parameter.size(); ++i) p[i] -= lr * (g[i] + decay * p[i]);
}

template <class T>
struct Momentum {
  T keep, take;            // b = keep b + take g
  T of_gradient, of_mean;  // u = of_gradient g + of_mean b
};

template <class T>
void descend(std::span<T> parameter, std::span<const T> gradient, std::span<T> mean, T lr, T decay,
             Momentum<T> c) {
  T* __restrict p = parameter.data();
  T* __restrict b = mean.data();
  const T* __restrict g = gradient.data();
  for (std::size_t i = 0; i < parameter.size(); ++i) {
    const T d = g[i] + decay * p[i];
    b[i] = c.keep * b[i] + c.take * d;
    p[i] -= lr * (c.of_gradient * d + c.of_mean * b[i]);
  }
}

}  // namespace

Sgd::Sgd(Parameters parameters, SgdOptions options)
    : Optimizer("sgd", std::move(parameters),
                {options.lr, options.weight_decay, options.decays, options.groups},
                options.momentum != 0 ? std::vector<std::string>{"momentum"}
                                      : std::vector<std::string>{}),
      options_(std::move(options)) {
  check_range("momentum", options_.momentum, 0, 1);
  check_range("dampening", options_.dampening, 0, 1);
  if (options_.nesterov && (options_.momentum == 0 || options_.dampening != 0))
    throw ValueError(text("sgd: nesterov needs a momentum and no dampening, not momentum = ",
                          options_.momentum, " with dampening = ", options_.dampening));
}

void Sgd::update(Slot& slot, const Tensor& gradient) {
  dispatch(slot.value.dtype(), [&](auto t) {
    using T = decltype(t);
    const std::span<T> p = slot.value.mutate<T>();
    const T rate = static_cast<T>(this->rate(slot)), decay = static_cast<T>(slot.decay);
    if (slot.moments.empty()) {
      descend(p, gradient.data<T>(), rate, decay);
      return;
    }
    const bool first = slot.steps.item() == 1;
    const T momentum = static_cast<T>(options_.momentum);
    descend(p, gradient.data<T>(), slot.moments[0].mutate<T>(), rate, decay,
            Momentum<T>{.keep = momentum,
                        .take = first ? T(1) : static_cast<T>(1 - options_.dampening),
                        .of_gradient = options_.nesterov ? T(1) : T(0),
                        .of_mean = options_.nesterov ? momentum : T(1)});
  });
}

}  // namespace heed
