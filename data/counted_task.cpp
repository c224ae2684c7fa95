#include <heed/autograd/error.h>
#include <heed/data/counted_task.h>

#include <algorithm>

namespace heed {

CountedTask::CountedTask(std::int64_t count, std::int64_t held_out, Rng rng)
    : order_(rng.permutation(count)), held_out_(held_out) {
  if (held_out < 1 || held_out >= count)
    throw ValueError(text("of ", count, " rows ", held_out,
                          " would be held out: some are needed on either side"));
}

Batch CountedTask::sample(std::int64_t rows, Rng& rng) const {
  const std::int64_t all = training_rows();
  const bool full = rows >= all;
  NextTokenRows batch(std::min(rows, all), context());
  for (std::int64_t i = 0; i < std::min(rows, all); ++i)
    batch.add(row_at(held_out_ + (full ? i : rng.integer(all))));
  return batch.batch();
}

Batch CountedTask::held_out(std::int64_t first, std::int64_t rows) const {
  require_held_out(first, rows);
  NextTokenRows batch(rows, context());
  for (std::int64_t i = first; i < first + rows; ++i) batch.add(row_at(i));
  return batch.batch();
}

}  // namespace heed
