#include <heed/train/optimizers/rmsprop.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace heed {
namespace {

std::vector<std::string> kept(const RmspropOptions& options) {
  std::vector<std::string> names{"square_avg"};
  if (options.momentum > 0) names.emplace_back("momentum");
  if (options.centered) names.emplace_back("grad_avg");
  return names;
}

template <class T>
struct RmsPropCoefficients {
  T keep, take;  // alpha, 1 - alpha
  T eps, momentum, rate, decay;
};

/// `velocity` and `mean` are empty where there is no momentum, and where it is not centered.
template <class T>
void descend(std::span<T> p, std::span<const T> g, std::span<T> mean_square, std::span<T> velocity,
             std::span<T> mean, const RmsPropCoefficients<T> c) {
  for (std::size_t i = 0; i < p.size(); ++i) {
    const T d = g[i] + c.decay * p[i];
    T v = mean_square[i] = c.keep * mean_square[i] + c.take * d * d;
    if (!mean.empty()) {
      mean[i] = c.keep * mean[i] + c.take * d;
      v = std::max(v - mean[i] * mean[i], T(0));
    }
    T u = d / (std::sqrt(v) + c.eps);
    if (!velocity.empty()) u = velocity[i] = c.momentum * velocity[i] + u;
    p[i] -= c.rate * u;
  }
}

}  // namespace

Rmsprop::Rmsprop(Parameters parameters, RmspropOptions options)
    : Optimizer("rmsprop", std::move(parameters),
                {options.lr, options.weight_decay, options.decays, options.groups}, kept(options)),
      options_(std::move(options)) {
  check_range("alpha", options_.alpha, 0, 1);
  check_range("eps", options_.eps, 0, std::numeric_limits<double>::infinity());
  check_range("momentum", options_.momentum, 0, 1);
}

void Rmsprop::update(Slot& slot, const Tensor& gradient) {
  dispatch(slot.value.dtype(), [&](auto zero) {
    using T = decltype(zero);
    std::vector<Tensor>& moments = slot.moments;
    descend(slot.value.mutate<T>(), gradient.data<T>(), moments.front().mutate<T>(),
            options_.momentum > 0 ? moments[1].mutate<T>() : std::span<T>(),
            options_.centered ? moments.back().mutate<T>() : std::span<T>(),
            RmsPropCoefficients<T>{.keep = static_cast<T>(options_.alpha),
                                   .take = static_cast<T>(1 - options_.alpha),
                                   .eps = static_cast<T>(options_.eps),
                                   .momentum = static_cast<T>(options_.momentum),
                                   .rate = static_cast<T>(rate(slot)),
                                   .decay = static_cast<T>(slot.decay)});
  });
}

}  // namespace heed
