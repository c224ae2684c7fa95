#pragma once

#include <heed/layers/visitor.h>

namespace heed {

/// The Euclidean length of all gradients together, in double. Throws NonFinite naming the first
/// parameter whose gradient is not finite.
double grad_norm(const Parameters& parameters);

/// Multiplies every gradient there is, in place.
void scale_gradients(const Parameters& parameters, double factor);

/// Scales the gradients by max_norm / norm if their norm exceeds max_norm (Pascanu et al.,
/// arXiv:1211.5063), and returns the norm they had. Throws as grad_norm does, before anything is
/// changed, and ValueError unless max_norm > 0; infinity clips nothing.
double clip_grad_norm(const Parameters& parameters, double max_norm);

}  // namespace heed
