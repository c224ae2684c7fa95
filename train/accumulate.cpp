#include <heed/autograd/engine.h>
#include <heed/train/accumulate.h>

#include <algorithm>

namespace heed {

std::int64_t count_targets(const Tokens& targets) {
  const auto ids = targets.data();
  return static_cast<std::int64_t>(ids.size()) - std::ranges::count(ids, kIgnore);
}

double accumulate_gradients(std::span<const Batch> parts,
                            const std::function<Tensor(const Batch&)>& loss) {
  std::int64_t total = 0;
  for (const Batch& part : parts) total += count_targets(part.targets);
  double mean = 0;
  for (const Batch& part : parts) {
    const std::int64_t counted = count_targets(part.targets);
    if (counted == 0) continue;
    const double weight = static_cast<double>(counted) / static_cast<double>(total);
    const Tensor of_part = loss(part);
    mean += weight * of_part.item();
    backward(of_part, {.seed = full(of_part.shape(), weight, of_part.dtype())});
  }
  return mean;
}

}  // namespace heed
