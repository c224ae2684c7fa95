#pragma once

// What the tests of PyTorch's numbers share. The files hold results only: inputs come from the same
// recipe in both languages, see recipe.py.

#include <gtest/gtest.h>
#include <heed/autograd/autograd.h>
#include <heed/layers/layers.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace heed::golden {

using List = std::vector<Tensor>;
using nlohmann::json;

/// Numbers between low and high, without any order or tie.
inline Tensor wave(const Shape& shape, double phase, double low = -2, double high = 2) {
  const double middle = (low + high) / 2, height = (high - low) / 2;
  std::vector<double> values(static_cast<std::size_t>(shape.numel()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value = middle + height * std::sin(2.399963 * static_cast<double>(i) + phase);
    values[i] = std::nearbyint(value * 1e6) / 1e6;
  }
  return tensor(std::move(values), shape, f64);
}

/// Whole numbers from 0 to bound - 1.
inline std::vector<std::int64_t> whole(std::int64_t count, std::int64_t bound,
                                       std::int64_t phase = 0) {
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < count; ++i)
    values.push_back((7 * i * i + 3 * i + phase * phase + 5 * phase) % 101 % bound);
  return values;
}
inline Tokens ids(const Shape& shape, std::int64_t bound, std::int64_t phase = 0) {
  return tokens(whole(shape.numel(), bound, phase), shape);
}

/// The entries of a file, ops.json and so on, in order.
inline std::vector<json> entries(const std::string& file) {
  std::ifstream in(HEED_SOURCE_DIR "/tests/golden/" + file);
  return json::parse(in).get<std::vector<json>>();
}

inline std::string by_name(const testing::TestParamInfo<json>& test) { return test.param["name"]; }

inline Shape shape_of(const json& value) { return value.get<std::vector<std::int64_t>>(); }

/// Gives the model, whatever its type, the values of the recipe.
template <class Model>
void fill(Model& model) {
  double phase = 20;
  for (NamedTensor& parameter : parameters(model)) {
    const std::vector<double> values =
        wave(parameter.value.shape(), phase++, -0.8, 0.8).to_vector();
    dispatch(parameter.value.dtype(), [&](auto t) {
      std::ranges::transform(values, parameter.value.mutate<decltype(t)>().begin(),
                             [](double v) { return static_cast<decltype(t)>(v); });
    });
  }
}

/// Each element to `tolerance`, relative above 1.
inline void expect_values(const Tensor& found, const json& expected, double tolerance = 1e-11) {
  const std::vector<double> a = found.to_vector(), b = expected.get<std::vector<double>>();
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    EXPECT_NEAR(a[i], b[i], tolerance * std::max(1., std::abs(b[i]))) << "element " << i;
}

}  // namespace heed::golden
