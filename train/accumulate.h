#pragma once

#include <heed/autograd/tensor.h>
#include <heed/data/batch.h>

#include <cstdint>
#include <functional>
#include <span>

namespace heed {

/// How many targets are not kIgnore.
std::int64_t count_targets(const Tokens& targets);

/// Adds to the gradients that of the mean loss over all targets that count, as if `parts` were one
/// batch: each part weighs as many targets as it has. Returns that mean, 0 if no target counts.
/// `loss` computes the mean over the targets of one part that count.
double accumulate_gradients(std::span<const Batch> parts,
                            const std::function<Tensor(const Batch&)>& loss);

}  // namespace heed
