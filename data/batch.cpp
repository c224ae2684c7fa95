#include <heed/autograd/error.h>
#include <heed/data/batch.h>

#include <algorithm>

namespace heed {

std::span<const std::int64_t> row_of(const Tokens& ids, std::int64_t row) {
  if (row < 0 || row >= ids.dim(0)) throw IndexError(text("row ", row, " of ", ids.dim(0)));
  const auto width = static_cast<std::size_t>(ids.dim(1));
  return ids.data().subspan(static_cast<std::size_t>(row) * width, width);
}

Row next_token_row(std::span<const std::int64_t> ids, std::int64_t first) {
  if (ids.empty()) throw ShapeError("a row of no ids");
  Row row{.inputs = {ids.begin(), ids.end() - 1}, .targets = {ids.begin() + 1, ids.end()}};
  for (std::int64_t t = 0; t < std::min(first, std::ssize(row.targets)); ++t)
    row.targets[static_cast<std::size_t>(t)] = kIgnore;
  return row;
}

NextTokenRows::NextTokenRows(std::int64_t rows, std::int64_t context)
    : rows_(rows), context_(context) {
  if (rows < 1 || context < 1)
    throw ValueError(text("a batch of ", rows, " rows of ", context,
                          " positions: there must be at least one of each"));
}

void NextTokenRows::add(const Row& row) {
  if (std::ssize(row.inputs) != context_ || std::ssize(row.targets) != context_)
    throw ShapeError(text("a row of ", row.inputs.size(), " inputs and ", row.targets.size(),
                          " targets in a batch of ", context_, " positions"));
  if (std::ssize(inputs_) == rows_ * context_)
    throw ShapeError(text("a batch of ", rows_, " rows is full"));
  inputs_.insert(inputs_.end(), row.inputs.begin(), row.inputs.end());
  targets_.insert(targets_.end(), row.targets.begin(), row.targets.end());
}

void NextTokenRows::add(std::span<const std::int64_t> ids, std::int64_t first) {
  add(next_token_row(ids, first));
}

Batch NextTokenRows::batch() const {
  const Shape shape = {rows_, context_};
  return {.inputs = Tokens(inputs_, shape), .targets = Tokens(targets_, shape)};
}

}  // namespace heed
