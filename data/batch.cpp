#include <heed/autograd/error.h>
#include <heed/data/batch.h>

namespace heed {

NextTokenRows::NextTokenRows(std::int64_t rows, std::int64_t context)
    : rows_(rows), context_(context) {
  if (rows < 1 || context < 1)
    throw ValueError(text("a batch of ", rows, " rows of ", context,
                          " positions: there must be at least one of each"));
}

void NextTokenRows::add(std::span<const std::int64_t> ids, std::int64_t first) {
  if (std::ssize(ids) != context_ + 1)
    throw ShapeError(text("a row of ", ids.size(), " ids: ", context_, " positions and the target ",
                          "of the last one need ", context_ + 1));
  if (std::ssize(inputs_) == rows_ * context_)
    throw ShapeError(text("a batch of ", rows_, " rows is full"));
  inputs_.insert(inputs_.end(), ids.begin(), ids.end() - 1);
  for (std::int64_t t = 0; t < context_; ++t)
    targets_.push_back(t < first ? kIgnore : ids[static_cast<std::size_t>(t + 1)]);
}

Batch NextTokenRows::batch() const {
  const Shape shape = {rows_, context_};
  return {.inputs = Tokens(inputs_, shape), .targets = Tokens(targets_, shape)};
}

}  // namespace heed
