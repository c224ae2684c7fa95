#pragma once

#include <heed/autograd/tensor.h>
#include <heed/data/batch.h>

namespace heed {

/// The logits (B, T, V) of a model on a batch. One that can be called with (B, S) memory, (B, T)
/// tokens and padding of the memory, as an EncoderDecoder, is; any other with (B, T) tokens and
/// their padding. Throws as the model does.
template <class Model>
Tensor answer(const Model& model, const Batch& batch) {
  if constexpr (requires { model(batch.memory, batch.inputs, batch.hidden); })
    return model(batch.memory, batch.inputs, batch.hidden);
  else
    return model(batch.inputs, batch.hidden);
}

}  // namespace heed
