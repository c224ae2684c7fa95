#include <heed/autograd/error.h>
#include <heed/autograd/ops/loss.h>
#include <heed/train/fixed_batches.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
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

Tokens made(Ids ids, Shape shape) { return tokens(std::move(ids), std::move(shape)); }
Mask made(const std::vector<std::uint8_t>& bytes, Shape shape) {
  return mask({bytes.begin(), bytes.end()}, std::move(shape));
}

/// Rows of a field (B, T), from row `first` on; none of none.
template <class T>
T part(const T& all, std::int64_t first, std::int64_t rows) {
  if (!all.defined()) return {};
  return made(elements(all, first, rows), {rows, all.dim(1)});
}

Batch part(const Batch& all, std::int64_t first, std::int64_t rows) {
  return {.inputs = part(all.inputs, first, rows),
          .targets = part(all.targets, first, rows),
          .hidden = part(all.hidden, first, rows),
          .memory = part(all.memory, first, rows)};
}

template <class T>
std::string described(const T& ids) {
  return ids.defined() ? text(ids.shape()) : "none";
}

/// One field of all batches, the first batch's on top.
template <class T>
T stacked(const std::vector<Batch>& batches, T Batch::*field, std::string_view name) {
  const T& first = batches.front().*field;
  std::vector<std::remove_cvref_t<decltype(first.data()[0])>> all;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    const T& each = batches[i].*field;
    if (described(each) != described(first))
      throw ValueError(text("fixed batches: batch ", i + 1, " has ", name, " ", described(each),
                            ", batch 1 ", described(first),
                            "; they must be alike, but overfit = 1 takes one batch"));
    if (each.defined()) all.insert(all.end(), each.data().begin(), each.data().end());
  }
  if (!first.defined()) return {};
  const auto count = static_cast<std::int64_t>(batches.size());
  return made(std::move(all), {count * first.dim(0), first.dim(1)});
}

/// Where one batch has a mask, gives one to those without padding.
void mask_all(std::vector<Batch>& batches) {
  const auto masked = [](const Batch& batch) { return batch.hidden.defined(); };
  if (std::ranges::none_of(batches, masked)) return;
  for (Batch& batch : batches) {
    const Tokens& keys = batch.memory.defined() ? batch.memory : batch.inputs;
    if (!masked(batch))
      batch.hidden = mask(std::vector<bool>(static_cast<std::size_t>(keys.numel())), keys.shape());
  }
}

Batch stacked(std::vector<Batch> batches) {
  Batch all{.inputs = stacked(batches, &Batch::inputs, "inputs"),
            .targets = stacked(batches, &Batch::targets, "targets"),
            .memory = stacked(batches, &Batch::memory, "memory")};
  mask_all(batches);
  all.hidden = stacked(batches, &Batch::hidden, "hidden");
  return all;
}

}  // namespace

FixedBatches::FixedBatches(const Task& task, std::int64_t count, std::int64_t rows, const Rng& rng)
    : task_(task), count_(count) {
  if (count < 1) throw ValueError(text("fixed batches: count = ", count, " is below 1"));
  Rng data = rng.stream("data");
  std::vector<Batch> batches;
  for (std::int64_t i = 0; i < count; ++i) batches.push_back(task.sample(rows, data));
  all_ = stacked(std::move(batches));
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
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> next;  // a trie: node, id -> node
  const auto after = [&](std::int64_t node, std::int64_t id) {
    return next.try_emplace(std::pair(node, id), std::ssize(next) + 1).first->second;
  };
  std::map<std::int64_t, std::map<std::int64_t, std::int64_t>> asked;  // node: each target's count
  std::int64_t targets = 0, knowable = 0;
  for (std::int64_t row = 0; row < held_out_rows(); ++row) {
    std::int64_t read = 0;  // the node of all that was read: at first nothing
    if (all_.memory.defined())
      for (const std::int64_t id : elements(all_.memory, row, 1)) read = after(read, id);
    const Ids inputs = elements(all_.inputs, row, 1), wanted = elements(all_.targets, row, 1);
    for (std::size_t t = 0; t < inputs.size(); ++t) {
      read = after(read, inputs[t]);
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
