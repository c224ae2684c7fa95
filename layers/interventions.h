#pragma once

#include <heed/layers/recorder.h>

#include <cstdint>

/// What to replace an activation by: recorder.replace("blocks.0.attention.weights", ...).
namespace heed {

/// The value itself. What is otherwise computed beside the output (attention weights) is then on
/// the way to it, and `grad` can be asked for its gradient.
Tensor unchanged(const Tensor& value);

/// Weights (B, H, Tq, Tk) of which those of one head are 0, so that it adds nothing to the output.
/// Throws IndexError, when it is used, if there is no such head, and ShapeError for other axes.
Recorder::Intervention silence_head(std::int64_t head);

}  // namespace heed
