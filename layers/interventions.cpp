#include <heed/autograd/error.h>
#include <heed/autograd/ops/mask.h>
#include <heed/layers/interventions.h>

#include <utility>
#include <vector>

namespace heed {

Tensor unchanged(const Tensor& value) { return value; }

Recorder::Intervention silence_head(std::int64_t head) {
  return [head](const Tensor& weights) {
    if (weights.ndim() != 4)
      throw ShapeError(text("silence_head: expects weights (B, H, Tq, Tk), got ", weights.shape()));
    const std::int64_t heads = weights.dim(1);
    if (head < 0 || head >= heads)
      throw IndexError(text("silence_head: head ", head, " is not in [0, ", heads, ")"));
    std::vector<bool> silent(static_cast<std::size_t>(heads));
    silent[static_cast<std::size_t>(head)] = true;
    return masked_fill(weights, mask(std::move(silent), {heads, 1, 1}), 0);
  };
}

}  // namespace heed
