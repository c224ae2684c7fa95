#include <heed/autograd/engine.h>
#include <heed/train/accumulate.h>
#include <heed/train/clip.h>

#include <algorithm>

namespace heed {

std::int64_t count_targets(const Tokens& targets) {
  const auto ids = targets.data();
  return static_cast<std::int64_t>(ids.size()) - std::ranges::count(ids, kIgnore);
}

double accumulate_gradients(const Parameters& parameters, std::int64_t parts,
                            const std::function<Batch()>& next,
                            const std::function<Tensor(const Batch&)>& loss) {
  for (NamedTensor parameter : parameters) parameter.value.clear_grad();
  std::int64_t unit = 0, total = 0;  // targets of the first part that has any, and of all
  double sum = 0;
  for (std::int64_t i = 0; i < parts; ++i) {
    const Batch part = next();
    const std::int64_t counted = count_targets(part.targets);
    if (counted == 0) continue;
    if (unit == 0) unit = counted;
    total += counted;
    const double weight = static_cast<double>(counted) / static_cast<double>(unit);
    const Tensor of_part = loss(part);
    sum += weight * of_part.item();
    backward(of_part, {.seed = full(of_part.shape(), weight, of_part.dtype())});
  }
  if (total == unit) return sum;
  const double share = static_cast<double>(unit) / static_cast<double>(total);
  scale_gradients(parameters, share);
  return share * sum;
}

}  // namespace heed
