#include <heed/autograd/error.h>
#include <heed/train/average.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace heed {

WeightAverage::WeightAverage(Parameters parameters, double decay)
    : parameters_(std::move(parameters)), decay_(decay), updates_(zeros({}, f64)) {
  if (!(decay >= 0 && decay < 1))
    throw ValueError(text("average: decay = ", decay, " is not in [0, 1)"));
  for (const NamedTensor& parameter : parameters_)
    averages_.push_back(parameter.value.detach().clone());
}

void WeightAverage::update() {
  const double updates = updates_.mutate<double>()[0] += 1;
  const double share = (1 - decay_) / (1 - std::pow(decay_, updates));  // 1 at first
  for (std::size_t i = 0; i < averages_.size(); ++i)
    dispatch(averages_[i].dtype(), [&](auto zero) {
      using T = decltype(zero);
      const T keep = static_cast<T>(1 - share);
      const std::span<T> average = averages_[i].mutate<T>();
      const std::span<const T> now = parameters_[i].value.data<T>();
      for (std::size_t k = 0; k < average.size(); ++k)
        average[k] = now[k] + keep * (average[k] - now[k]);  // now[k], where it was so before
    });
}

void WeightAverage::swap() {
  for (std::size_t i = 0; i < averages_.size(); ++i)
    dispatch(averages_[i].dtype(), [&](auto zero) {
      using T = decltype(zero);
      std::ranges::swap_ranges(averages_[i].mutate<T>(), parameters_[i].value.mutate<T>());
    });
}

Parameters WeightAverage::state() const {
  Parameters state{{"updates", updates_}};
  for (std::size_t i = 0; i < averages_.size(); ++i)
    state.push_back({parameters_[i].name + ".average", averages_[i]});
  return state;
}

}  // namespace heed
