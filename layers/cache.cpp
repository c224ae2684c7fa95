#include <heed/autograd/error.h>
#include <heed/autograd/ops/shape.h>
#include <heed/layers/cache.h>

#include <algorithm>
#include <utility>

namespace heed {

KeysValues KeysValues::then(const Tensor& more_keys, const Tensor& more_values) const {
  if (!keys.defined()) return {more_keys, more_values};
  if (more_keys.ndim() != 3 || more_keys.dim(0) != keys.dim(0) || more_keys.dim(2) != keys.dim(2))
    throw ShapeError(text("attention: the cache holds keys ", keys.shape(), ", the new ones are ",
                          more_keys.shape(), "; batch and channels must be the same"));
  return {concat({keys, more_keys}, 1), concat({values, more_values}, 1)};
}

std::int64_t KvCache::length() const { return layers.empty() ? 0 : layers.front().length(); }

void KvCache::hide(const Mask& more, const Shape& tokens) {
  const std::int64_t batch = tokens[0], before = length(), total = before + tokens[1];
  if (before > 0 && layers.front().keys.dim(0) != batch)
    throw ShapeError(text("cache: holds a batch of ", layers.front().keys.dim(0),
                          ", the new tokens are ", tokens, "; start with a new cache"));
  for (const KeysValues& layer : layers)
    if (layer.length() != before)
      throw ShapeError("cache: its layers hold different numbers of positions");
  if (hidden.defined() && hidden.shape() != Shape{batch, before})
    throw ShapeError(text("cache: its padding ", hidden.shape(), " is not that of ", batch,
                          " rows of ", before, " positions"));
  if (!hidden.defined() && !more.defined()) return;
  Mask::Values joined(static_cast<std::size_t>(batch * total), 0);
  const auto place = [&](const Mask& part, std::int64_t from) {
    if (!part.defined()) return;
    for (std::int64_t b = 0; b < batch; ++b)
      std::ranges::copy_n(part.data().begin() + b * part.dim(1), part.dim(1),
                          joined.begin() + b * total + from);
  };
  place(hidden, 0);
  place(more, before);
  hidden = Mask(std::move(joined), {batch, total});
}

}  // namespace heed
