#pragma once

#include "../layers/support.h"

namespace heed::layer_tests {

inline Tokens random_tokens(Shape shape, std::int64_t vocabulary, Rng& rng) {
  std::vector<std::int64_t> ids(static_cast<std::size_t>(shape.numel()));
  for (std::int64_t& id : ids) id = rng.integer(vocabulary);
  return Tokens(ids, shape);
}

/// `ids` with another token at one place of its first row.
inline Tokens changed(const Tokens& ids, std::int64_t place, std::int64_t vocabulary) {
  std::vector<std::int64_t> other = ids.to_vector();
  std::int64_t& id = other[static_cast<std::size_t>(place)];
  id = (id + 1) % vocabulary;
  return Tokens(other, ids.shape());
}

/// One step of gradient descent on `loss`: each parameter has a gradient and new bytes.
template <class Model>
void expect_all_move(const Model& model, const Tensor& loss, const std::string& what) {
  std::vector<std::vector<std::byte>> before;
  for (const Tensor& parameter : tensors(model)) before.push_back(bytes(parameter));
  backward(loss);
  for (const auto& [name, value] : parameters(model)) {
    ASSERT_TRUE(value.grad().defined()) << what << ": " << name;
    EXPECT_GT(norm(value.grad()).item(), 0) << what << ": " << name;
  }
  descend(parameters(model), 0.1);
  std::size_t i = 0;
  for (const auto& [name, value] : parameters(model))
    EXPECT_NE(bytes(value), before[i++]) << what << ": " << name;
}

}  // namespace heed::layer_tests
