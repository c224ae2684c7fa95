#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heed/autograd/autograd.h>

#include <cmath>
#include <string>
#include <vector>

namespace heed::cases {

/// Each element to a relative 1e-9 in f64 and 1e-5 in f32, a zero exactly.
inline void expect_values(const Tensor& x, const std::vector<double>& expected) {
  const std::vector<double> found = x.to_vector();
  ASSERT_EQ(found.size(), expected.size());
  const double tolerance = x.dtype() == f64 ? 1e-9 : 1e-5;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const bool near = std::abs(found[i] - expected[i]) <= tolerance * std::abs(expected[i]);
    EXPECT_TRUE(found[i] == expected[i] || (near && std::isfinite(expected[i])))
        << "element " << i << " is " << found[i] << ", expected " << expected[i];
  }
}

inline Tensor leaf(std::vector<double> values, Shape shape, DType dtype = f64) {
  return tensor(std::move(values), shape, dtype).requires_grad_();
}
/// With one axis.
inline Tensor leaf(std::vector<double> values, DType dtype = f64) {
  const auto n = static_cast<std::int64_t>(values.size());
  return leaf(std::move(values), {n}, dtype);
}

/// The gradient of `y` for `g` coming in from above.
inline Tensor gradient(const Tensor& y, const Tensor& x, std::vector<double> g) {
  return grad(y, x, {.seed = tensor(std::move(g), y.shape(), y.dtype())});
}
inline std::vector<Tensor> gradients(const Tensor& y, const std::vector<Tensor>& xs,
                                     std::vector<double> g) {
  return grad(y, xs, {.seed = tensor(std::move(g), y.shape(), y.dtype())});
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

}  // namespace heed::cases
