#pragma once

#include <heed/autograd/rng.h>
#include <heed/layers/visitor.h>

namespace heed {

/// Sets every element to an independent draw from the normal distribution. The draws are the same
/// for f32 and f64, rounded to f32 for f32.
void normal_(Tensor& x, Rng& rng, double mean = 0, double std = 1);
/// Multiplies every element by `factor`, in place.
void scale_(Tensor& x, double factor);

/// Draws every matrix of the model (a parameter with two or more axes) from normal(0, std), in the
/// order of `visit`; vectors (biases, norms) keep what their layer gave them.
template <class Model>
void init_normal(Model& model, Rng& rng, double std) {
  for (NamedTensor& parameter : parameters(model))
    if (parameter.value.ndim() >= 2) normal_(parameter.value, rng, 0, std);
}

}  // namespace heed
