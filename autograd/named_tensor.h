#pragma once

#include <heed/autograd/tensor.h>

#include <string>
#include <vector>

namespace heed {

/// A tensor and what it is called: for a parameter its path in the model,
/// "blocks.0.attention.w_q.weight".
struct NamedTensor {
  std::string name;
  Tensor value;
};
using Parameters = std::vector<NamedTensor>;

}  // namespace heed
