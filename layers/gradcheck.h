#pragma once

#include <heed/autograd/gradcheck.h>
#include <heed/layers/visitor.h>

#include <concepts>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace heed {

namespace detail {

/// `layer(xs...)`, for a layer that takes as many tensors as there are.
template <class L, std::same_as<Tensor>... Given>
Tensor call_layer(const L& layer, std::span<const Tensor> xs, const Given&... given) {
  if constexpr (std::invocable<const L&, const Given&...>)
    if (xs.empty()) return layer(given...);
  if constexpr (sizeof...(Given) < 4)
    if (!xs.empty()) return call_layer(layer, xs.subspan(1), given..., xs.front());
  throw ValueError(text("gradcheck_layer: the layer does not take ", sizeof...(Given) + xs.size(),
                        " tensors; pass a function (layer, inputs) that calls it"));
}

GradcheckResult gradcheck_layer(const std::function<Tensor(const std::vector<Tensor>& inputs,
                                                           const std::vector<Tensor>& own)>& f,
                                const std::vector<Tensor>& inputs, const Parameters& own,
                                GradcheckOptions options);

}  // namespace detail

/// Checks `call(layer, inputs)` with `gradcheck`, in every element of every input and of every
/// parameter; messages name parameters by their paths. The layer itself is not changed: a clone in
/// f64 is checked, with every parameter moved at random (normal, 0.3), since a bias of 0 or a norm
/// of 1 would hide what is wrong. Inputs must be f64.
template <Layer L, std::invocable<const L&, const std::vector<Tensor>&> Call>
GradcheckResult gradcheck_layer(const L& layer, const std::vector<Tensor>& inputs, Call call,
                                GradcheckOptions options = {.order = 2}) {
  L subject = clone(layer);
  to(subject, f64);
  return detail::gradcheck_layer(
      [&](const auto& xs, const auto& own) { return call(with_parameters(subject, own), xs); },
      inputs, parameters(subject), options);
}

/// The same for `layer(inputs...)`. Throws ValueError if the layer does not take so many tensors.
template <Layer L>
GradcheckResult gradcheck_layer(const L& layer, const std::vector<Tensor>& inputs,
                                GradcheckOptions options = {.order = 2}) {
  return gradcheck_layer(
      layer, inputs,
      [](const L& self, const std::vector<Tensor>& xs) { return detail::call_layer(self, xs); },
      options);
}

}  // namespace heed
