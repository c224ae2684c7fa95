#pragma once

// What the rows of the table are written with.

#include <heed/autograd/autograd.h>
#include <heed/layers/layers.h>

#include <string>
#include <utility>
#include <vector>

#include "layer_table.h"

namespace heed::layer_table {

using List = std::vector<Tensor>;

inline constexpr auto kOfOne = [](const auto& layer, const List& xs) { return layer(xs[0]); };

/// `call(layer, inputs)`, with a layer that `make(rng)` gives and inputs of these shapes.
template <class Make, class Call = decltype(kOfOne)>
Variant variant(std::string label, Make make, std::vector<Shape> shapes, Call call = {}) {
  return {std::move(label), [=](const GradcheckOptions& options) {
            Rng rng(options.seed + 12);
            List inputs;
            for (const Shape& shape : shapes) inputs.push_back(normal(shape, rng, 0, 1, f64));
            return gradcheck_layer(make(rng), inputs, call, options);
          }};
}

/// `call`, with dropout on and the same draws each time.
template <class Call>
auto in_training(Call call) {
  return [=](const auto& layer, const List& xs) {
    Rng rng(5);
    const Training scope(rng);
    return call(layer, xs);
  };
}

/// `call` with the attention weights under `name` put on the way to the output, where the layer
/// otherwise runs a fused op.
template <class Call>
auto composed(std::string name, Call call) {
  return [=](const auto& layer, const List& xs) {
    Recorder recorder(layer);
    recorder.replace(name, [](const Tensor& weights) { return weights; });
    return call(layer, xs);
  };
}

/// Squared, where the layer alone is linear and its second gradient zero.
template <class Call>
auto squared(Call call) {
  return [=](const auto& layer, const List& xs) { return square(call(layer, xs)); };
}

/// Layers that a model is made of, and those that are one or a block of one.
std::vector<Row> part_rows();
std::vector<Row> model_rows();

}  // namespace heed::layer_table
