#include <heed/data/drawn_task.h>

#include <algorithm>
#include <utility>

namespace heed {

void DrawnTask::hold_out(std::int64_t count, Rng rng) {
  Rng unused = rng;
  const std::ptrdiff_t length = std::ssize(draw(unused).inputs);
  while (std::ssize(held_out_) < count) {
    Row row = draw_held_out(rng);
    if (known_.emplace(row.inputs.begin(), row.inputs.begin() + length).second)
      held_out_.push_back(std::move(row));
  }
}

Batch DrawnTask::sample(std::int64_t rows, Rng& rng) const {
  const auto draw_new = [&] {
    Row row = draw(rng);
    while (known_.contains(row.inputs)) row = draw(rng);
    return row;
  };
  Row row = draw_new();
  NextTokenRows batch(rows, std::ssize(row.inputs));
  for (batch.add(row); --rows > 0; batch.add(row)) row = draw_new();
  return batch.batch();
}

Batch DrawnTask::held_out(std::int64_t first, std::int64_t rows) const {
  require_held_out(first, rows);
  NextTokenRows batch(rows, context());
  for (std::int64_t i = first; i < first + rows; ++i)
    batch.add(held_out_[static_cast<std::size_t>(i)]);
  return batch.batch();
}

std::int64_t held_out_count(std::int64_t symbols, std::int64_t places, std::int64_t part) {
  constexpr std::int64_t kMost = 1000;
  std::int64_t all = 1;
  for (std::int64_t i = 0; i < places && all < part * kMost; ++i) all *= symbols;
  return std::min(kMost, all / part);
}

}  // namespace heed
