#include <heed/autograd/error.h>
#include <heed/data/drawn_task.h>

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

namespace heed {
namespace {

constexpr std::int64_t kMostRepeats = 10'000;  // in a row, and there is nothing new to draw

}  // namespace

void DrawnTask::hold_out(std::int64_t count, Rng rng) {
  if (count < 1)
    throw ValueError(text("hold_out: ", count, " rows are asked for: it must be at least 1"));
  Rng unused = rng;
  const std::ptrdiff_t length = std::ssize(draw(unused).inputs);
  for (std::int64_t repeats = 0; std::ssize(held_out_) < count; ++repeats) {
    if (repeats == kMostRepeats)
      throw ValueError(text("hold_out: ", count, " rows are asked for, but only ",
                            std::ssize(held_out_), " different ones were found"));
    Row row = draw_held_out(rng);
    if (!known_.emplace(row.inputs.begin(), row.inputs.begin() + length).second) continue;
    held_out_.push_back(std::move(row));
    repeats = 0;
  }
}

std::size_t DrawnTask::Hash::operator()(const std::vector<std::int64_t>& ids) const {
  return std::hash<std::string_view>()(
      {reinterpret_cast<const char*>(ids.data()), ids.size() * sizeof(std::int64_t)});
}

Batch DrawnTask::sample(std::int64_t rows, Rng& rng) const {
  const auto draw_new = [&] {
    Row row = draw(rng);
    for (std::int64_t repeats = 1; known_.contains(row.inputs); ++repeats) {
      if (repeats == kMostRepeats)
        throw ValueError(text("sample: with ", std::ssize(held_out_),
                              " rows held out no other was found to train on"));
      row = draw(rng);
    }
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
