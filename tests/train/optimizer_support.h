#pragma once

#include <heed/autograd/autograd.h>

#include <cmath>
#include <utility>
#include <vector>

namespace heed {

inline Tensor leaf(std::vector<double> values, const Shape& shape, DType dtype = f64) {
  return tensor(std::move(values), shape, dtype).requires_grad_();
}

/// Makes `gradient` what x has collected.
inline void give_gradient(Tensor x, const std::vector<double>& gradient) {
  x.clear_grad();
  backward(sum(x * tensor(gradient, x.shape(), x.dtype())));
}

/// Numbers without any order, as gradients of step `t`.
inline std::vector<double> wave(std::size_t n, int t) {
  std::vector<double> values(n);
  for (std::size_t i = 0; i < n; ++i)
    values[i] = std::sin(2.4 * static_cast<double>(i) + 1.7 * t) * (1 + .5 * t);
  return values;
}

}  // namespace heed
