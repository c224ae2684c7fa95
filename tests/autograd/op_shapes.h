#pragma once

// Variants over the shapes that every elementwise op has to take.

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "op_table.h"

namespace heed::op_table {

/// One input in every shape: long enough for whole vectors and a tail, scalar, single, empty.
inline std::vector<Variant> unary_variants(const std::string& label, const In& range,
                                           std::function<Tensor(const Tensor&)> call,
                                           std::function<double(double)> f) {
  std::vector<Variant> result;
  for (const Shape& shape : {Shape{5, 7}, Shape{}, Shape{1}, Shape{2, 0, 3}}) {
    In in = range;
    in.shape = shape;
    result.push_back({text(label, shape),
                      {in},
                      [call](const List& x) { return call(x[0]); },
                      [f](const Arrays& x) { return reference::each(x[0], f); }});
  }
  return result;
}

/// Two inputs in every pair of shapes that broadcast.
inline std::vector<Variant> binary_variants(
    const In& a, const In& b, std::function<Tensor(const Tensor&, const Tensor&)> call,
    std::function<double(double, double)> f, bool apart = false) {
  static const std::vector<std::pair<Shape, Shape>> shapes = {{{3, 7}, {3, 7}},
                                                              {{3, 4}, {4}},
                                                              {{4}, {3, 4}},
                                                              {{3, 1}, {1, 4}},
                                                              {{}, {2, 3}},
                                                              {{2, 3}, {}},
                                                              {{2, 1, 3, 1}, {4, 1, 2}},
                                                              {{2, 3, 4}, {2, 1, 4}},
                                                              {{1}, {1}},
                                                              {{}, {}},
                                                              {{4, 0}, {4, 1}},
                                                              {{0}, {1}},
                                                              {{1}, {2, 0, 3}},
                                                              {{2, 2, 3}, {2, 2, 1}}};
  std::vector<Variant> result;
  for (const auto& [left, right] : shapes) {
    In in_a = a, in_b = b;
    in_a.shape = left;
    in_b.shape = right;
    result.push_back({text(left, " and ", right),
                      {in_a, in_b},
                      [call](const List& x) { return call(x[0], x[1]); },
                      [f](const Arrays& x) { return reference::each(x[0], x[1], f); },
                      apart});
  }
  return result;
}

/// The variants of both, one after the other.
inline std::vector<Variant> joined(std::vector<Variant> first, std::vector<Variant> second) {
  for (Variant& variant : second) first.push_back(std::move(variant));
  return first;
}

}  // namespace heed::op_table
