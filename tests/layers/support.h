#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heed/autograd/autograd.h>
#include <heed/layers/layers.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

namespace heed::layer_tests {

/// The tensor's bytes: what "the same to the bit" compares.
inline std::vector<std::byte> bytes(const Tensor& x) {
  const std::byte* data = x.storage()->data();
  return {data, data + static_cast<std::size_t>(x.numel()) * size_of(x.dtype())};
}

/// Calls `f(element)` on every element of a parameter, to change it in place.
template <class F>
void for_each_element(Tensor parameter, F f) {
  dispatch(parameter.dtype(), [&](auto t) {
    for (auto& element : parameter.mutate<decltype(t)>()) f(element);
  });
}

/// Moves every parameter off its start, where biases are 0 and norms the identity and a test would
/// not see them.
template <class Model>
void stir(Model& model, Rng& rng, double std = 0.3) {
  for (const NamedTensor& parameter : parameters(model))
    for_each_element(parameter.value, [&](auto& element) {
      element += static_cast<std::decay_t<decltype(element)>>(std * rng.normal());
    });
}

inline void set(const Tensor& parameter, const std::vector<double>& values) {
  ASSERT_EQ(static_cast<std::int64_t>(values.size()), parameter.numel());
  auto next = values.begin();
  for_each_element(parameter, [&](auto& element) {
    element = static_cast<std::decay_t<decltype(element)>>(*next++);
  });
}

inline void expect_near(const Tensor& x, const std::vector<double>& values, double tolerance) {
  const std::vector<double> found = x.to_vector();
  ASSERT_EQ(found.size(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(found[i], values[i], tolerance * std::max(1.0, std::abs(values[i]))) << "at " << i;
}

/// What the error of type E says that `f` throws.
template <class E, class F>
std::string message(F f) {
  try {
    f();
  } catch (const E& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

/// x · random cotangent: a scalar that sees every element of x differently.
inline Tensor probe(const Tensor& x) {
  Rng rng(99);
  return sum(x * normal(x.shape(), rng, 0, 1, x.dtype()));
}

/// p -= lr · gradient, for every parameter that has one.
inline void descend(const Parameters& parameters, double lr) {
  for (const NamedTensor& parameter : parameters) {
    const Tensor g = parameter.value.grad();
    if (!g.defined()) continue;
    const std::vector<double> slope = g.to_vector();
    auto next = slope.begin();
    for_each_element(parameter.value, [&](auto& element) {
      element -= static_cast<std::decay_t<decltype(element)>>(lr * *next++);
    });
    Tensor(parameter.value).clear_grad();
  }
}

/// The parameters' tensors, for `grad`.
template <class Model>
std::vector<Tensor> tensors(const Model& model) {
  std::vector<Tensor> list;
  for (const NamedTensor& parameter : parameters(model)) list.push_back(parameter.value);
  return list;
}

}  // namespace heed::layer_tests
