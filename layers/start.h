#pragma once

#include <heed/layers/init.h>

#include <cmath>

namespace heed {

/// The deviation from which every matrix of a transformer starts.
inline constexpr double kStart = 0.02;

/// The start of GPT-2 (Radford et al., "Language Models are Unsupervised Multitask Learners", 2019)
/// for a model of blocks, each of so many parts: matrices from normal(0, 0.02), those that add to
/// the residual sum (`block.last_maps()`) divided by sqrt(parts · blocks); vectors as they are.
template <class Model>
void start_as_gpt2(Model& model, Rng& rng, int parts) {
  init_normal(model, rng, kStart);
  const double residual =
      1 / std::sqrt(static_cast<double>(parts) * static_cast<double>(model.blocks.size()));
  for (const auto& block : model.blocks)
    for (Tensor weight : block.last_maps()) scale_(weight, residual);
}

}  // namespace heed
