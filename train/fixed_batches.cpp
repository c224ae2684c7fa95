#include <heed/autograd/error.h>
#include <heed/autograd/ops/loss.h>
#include <heed/train/fixed_batches.h>

#include <algorithm>
#include <map>
#include <utility>

namespace heed {
namespace {

using Ids = std::vector<std::int64_t>;

template <class T>
auto elements(const T& ids, std::int64_t first, std::int64_t rows) {
  const auto width = static_cast<std::size_t>(ids.dim(1));
  const auto part = ids.data().subspan(static_cast<std::size_t>(first) * width,
                                       static_cast<std::size_t>(rows) * width);
  return std::vector(part.begin(), part.end());
}

/// `rows` rows of tokens (B, T), from row `first` on; none of none.
Tokens part(const Tokens& all, std::int64_t first, std::int64_t rows) {
  if (!all.defined()) return {};
  return tokens(elements(all, first, rows), {rows, all.dim(1)});
}

Mask part(const Mask& all, std::int64_t first, std::int64_t rows) {
  if (!all.defined()) return {};
  const auto bytes = elements(all, first, rows);
  return mask({bytes.begin(), bytes.end()}, {rows, all.dim(1)});
}

Batch part(const Batch& all, std::int64_t first, std::int64_t rows) {
  return {.inputs = part(all.inputs, first, rows),
          .targets = part(all.targets, first, rows),
          .hidden = part(all.hidden, first, rows),
          .memory = part(all.memory, first, rows)};
}

Tokens joined(const Tokens& a, const Tokens& b) {
  if (!a.defined()) return b;
  Ids ids = a.to_vector();
  ids.insert(ids.end(), b.data().begin(), b.data().end());
  return tokens(std::move(ids), {a.dim(0) + b.dim(0), a.dim(1)});
}

Mask joined(const Mask& a, const Mask& b) {
  if (!a.defined()) return b;
  std::vector<bool> values = a.to_vector();
  values.insert(values.end(), b.data().begin(), b.data().end());
  return mask(std::move(values), {a.dim(0) + b.dim(0), a.dim(1)});
}

Batch joined(const Batch& a, const Batch& b) {
  return {.inputs = joined(a.inputs, b.inputs),
          .targets = joined(a.targets, b.targets),
          .hidden = joined(a.hidden, b.hidden),
          .memory = joined(a.memory, b.memory)};
}

}  // namespace

FixedBatches::FixedBatches(const Task& task, std::int64_t count, std::int64_t rows, const Rng& rng)
    : task_(task), count_(count) {
  if (count < 1) throw ValueError(text("fixed batches: count = ", count, " is below 1"));
  Rng data = rng.stream("data");
  for (std::int64_t i = 0; i < count; ++i) all_ = joined(all_, task.sample(rows, data));
}

Batch FixedBatches::sample(std::int64_t, Rng& rng) const {
  const std::int64_t rows = held_out_rows() / count_;
  return part(all_, rows * rng.integer(count_), rows);
}

Batch FixedBatches::held_out(std::int64_t first, std::int64_t rows) const {
  require_held_out(first, rows);
  return part(all_, first, rows);
}

double FixedBatches::most_accurate() const {
  std::map<Ids, std::map<std::int64_t, std::int64_t>> asked;  // what was read: each target's count
  std::int64_t targets = 0, knowable = 0;
  for (std::int64_t row = 0; row < held_out_rows(); ++row) {
    const Ids inputs = elements(all_.inputs, row, 1), wanted = elements(all_.targets, row, 1);
    Ids read = all_.memory.defined() ? elements(all_.memory, row, 1) : Ids{};
    for (std::size_t t = 0; t < inputs.size(); ++t) {
      read.push_back(inputs[t]);
      if (wanted[t] == kIgnore) continue;
      ++targets;
      ++asked[read][wanted[t]];
    }
  }
  for (const auto& [read, counts] : asked)
    knowable +=
        std::ranges::max_element(counts, {}, [](const auto& c) { return c.second; })->second;
  return targets ? static_cast<double>(knowable) / static_cast<double>(targets) : 1;
}

}  // namespace heed
