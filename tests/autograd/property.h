#pragma once

// What the properties draw at random (rapidcheck repeats and shrinks them), and how they compare.

#include <gtest/gtest.h>
#include <heed/autograd/autograd.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "reference.h"

namespace heed::property {

using reference::Array;
using reference::Index;
using List = std::vector<Tensor>;

/// From low to high, both included.
inline std::int64_t between(std::int64_t low, std::int64_t high) {
  return *rc::gen::inRange<std::int64_t>(low, high + 1);
}
inline bool coin() { return *rc::gen::arbitrary<bool>(); }

/// Short axes, of which many are 1 and, if allowed, a few are empty.
inline Shape any_shape(std::int64_t min_rank, std::int64_t max_rank, bool empty_axes = true) {
  const auto length = rc::gen::weightedElement<std::int64_t>(
      {{empty_axes ? 1u : 0u, 0}, {4, 1}, {5, 2}, {5, 3}, {2, 5}});
  const auto rank = static_cast<std::size_t>(between(min_rank, max_rank));
  return Shape(*rc::gen::container<std::vector<std::int64_t>>(rank, length));
}

/// A shape that broadcasts to the given one: without some axes in front, and 1 in place of others.
inline Shape any_narrower(const Shape& shape) {
  Index lengths;
  for (std::int64_t i = coin() ? 0 : between(0, shape.ndim()); i < shape.ndim(); ++i)
    lengths.push_back(between(0, 2) == 0 ? 1 : shape[static_cast<std::size_t>(i)]);
  return Shape(lengths);
}

inline Rng any_rng() { return Rng(*rc::gen::arbitrary<std::uint32_t>()); }

/// Normal values, which have no ties.
inline Tensor any_tensor(const Shape& shape) {
  Rng rng = any_rng();
  return normal(shape, rng, 0, 1, f64);
}

/// Each element hidden with one chance, which may be 0 or 1: rows with nothing left are common.
inline Mask any_mask(const Shape& shape) {
  const double chance = *rc::gen::element(0., 0.3, 0.7, 1.);
  Rng rng = any_rng();
  std::vector<bool> hidden;
  for (std::int64_t i = 0; i < shape.numel(); ++i) hidden.push_back(rng.uniform() < chance);
  return mask(hidden, shape);
}

/// 0 to n - 1 in any order.
inline Index any_order(std::size_t n) {
  Rng rng = any_rng();
  Index order;
  for (std::size_t i = 0; i < n; ++i) {
    order.push_back(static_cast<std::int64_t>(i));
    std::swap(order[i],
              order[static_cast<std::size_t>(rng.integer(static_cast<std::int64_t>(i) + 1))]);
  }
  return order;
}

inline Array array(const Tensor& x) { return {x.shape(), x.to_vector()}; }

/// Each element to `tolerance`, relative above 1; 0: to the bit.
inline void expect_same(const Tensor& found, const Tensor& expected, const std::string& what,
                        double tolerance = 1e-10) {
  RC_ASSERT(found.shape() == expected.shape());
  const std::vector<double> a = found.to_vector(), b = expected.to_vector();
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i] != b[i] && !(std::abs(a[i] - b[i]) <= tolerance * std::max(1., std::abs(b[i]))))
      RC_FAIL(
          text(what, ": element ", i, " of ", found.shape(), " is ", a[i], ", expected ", b[i]));
}

}  // namespace heed::property
