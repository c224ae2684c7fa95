#include <heed/autograd/error.h>
#include <heed/train/clip.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace heed {
namespace {

/// Calls `f(parameter, elements)` with each gradient there is.
template <class F>
void for_each_gradient(const Parameters& parameters, F&& f) {
  for (const NamedTensor& parameter : parameters) {
    const Tensor gradient = parameter.value.grad();
    if (!gradient.defined()) continue;
    dispatch(gradient.dtype(), [&](auto t) { f(parameter, gradient.data<decltype(t)>()); });
  }
}

/// Of x times scale. The lanes are what lets a compiler use vectors without changing the order of
/// sums.
template <class T>
double sum_of_squares(std::span<const T> x, double scale) {
  constexpr std::size_t kLanes = 8;
  std::array<double, kLanes> lanes{};
  std::size_t i = 0;
  for (; i + kLanes <= x.size(); i += kLanes)
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const double value = x[i + lane] * scale;
      lanes[lane] += value * value;
    }
  double sum = 0;
  for (; i < x.size(); ++i) sum += x[i] * scale * (x[i] * scale);
  for (double lane : lanes) sum += lane;
  return sum;
}

double scaled_norm(const Parameters& parameters, double scale) {
  double sum = 0;
  for_each_gradient(parameters,
                    [&](const NamedTensor&, auto x) { sum += sum_of_squares(x, scale); });
  return std::sqrt(sum);
}

/// Of all elements. Throws NonFinite for the first one that is not finite.
double largest(const Parameters& parameters) {
  double found = 0;
  for_each_gradient(parameters, [&](const NamedTensor& parameter, auto x) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (!std::isfinite(x[i]))
        throw NonFinite(text("clip_grad_norm: the gradient of ", parameter.name, ", of shape ",
                             parameter.value.shape(), ", is ",
                             std::isnan(x[i]) ? "nan" : "infinite", " at ",
                             unravel_index(static_cast<std::int64_t>(i), parameter.value.shape())));
      found = std::max(found, std::abs(double(x[i])));
    }
  });
  return found;
}

}  // namespace

double grad_norm(const Parameters& parameters) {
  const double norm = scaled_norm(parameters, 1);
  if (std::isfinite(norm)) return norm;
  const double unit = largest(parameters);  // finite elements, but their squares are not
  return unit * scaled_norm(parameters, 1 / unit);
}

void scale_gradients(const Parameters& parameters, double factor) {
  for (const NamedTensor& parameter : parameters) {
    Tensor gradient = parameter.value.grad();
    if (!gradient.defined()) continue;
    dispatch(gradient.dtype(), [&](auto t) {
      using T = decltype(t);
      for (T& x : gradient.mutate<T>()) x = static_cast<T>(x * factor);
    });
  }
}

double clip_grad_norm(const Parameters& parameters, double max_norm) {
  if (!(max_norm > 0))
    throw ValueError(text("clip_grad_norm: max_norm = ", max_norm, " is not above 0"));
  const double norm = grad_norm(parameters);
  if (norm <= max_norm) return norm;
  scale_gradients(parameters, max_norm / norm);
  return norm;
}

}  // namespace heed
