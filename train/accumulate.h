#pragma once

#include <heed/data/batch.h>
#include <heed/layers/visitor.h>

#include <cstdint>
#include <functional>

namespace heed {

/// How many targets are not kIgnore.
std::int64_t count_targets(const Tokens& targets);

/// Leaves in the parameters the gradients of the mean loss over all targets that count, as if what
/// `next` gives at `parts` calls were one batch: each part weighs as many targets as it has. Only
/// one part is held at a time. Returns that mean, 0 if no target counts. `loss` computes the mean
/// over the targets of one part that count.
double accumulate_gradients(const Parameters& parameters, std::int64_t parts,
                            const std::function<Batch()>& next,
                            const std::function<Tensor(const Batch&)>& loss);

}  // namespace heed
