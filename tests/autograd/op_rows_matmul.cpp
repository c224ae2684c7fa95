#include <heed/autograd/autograd.h>

#include "op_table.h"

namespace heed::op_table {
namespace {

/// With the axes that a 1-D operand lacks, and without them again in the result.
Array product(Array a, Array b, MatmulOptions options) {
  const bool row = a.shape.size() == 1, column = b.shape.size() == 1;
  if (row) a.shape.insert(0, 1);
  if (column) b.shape.insert(1, 1);
  Array c = reference::matmul(a, b, options.transpose_a, options.transpose_b);
  if (column) c.shape.erase(c.shape.size() - 1);
  if (row) c.shape.erase(c.shape.size() - (column ? 1 : 2));
  return c;
}

Row matmul_row() {
  const auto variant = [](Shape a, Shape b, MatmulOptions options = {}) -> Variant {
    return {text(a, options.transpose_a ? "T" : "", " @ ", b, options.transpose_b ? "T" : ""),
            {{.shape = a}, {.shape = b}},
            [=](const List& x) { return matmul(x[0], x[1], options); },
            [=](const Arrays& x) { return product(x[0], x[1], options); }};
  };
  const MatmulOptions ta = {.transpose_a = true}, tb = {.transpose_b = true}, both = {true, true};
  const auto call = [](const Tensor& a, const Tensor& b) { return matmul(a, b); };
  return {.declaration = "matmul(Tensor, Tensor, MatmulOptions)",
          .name = "matmul",
          .saved = 2,
          .variants = {variant({2, 3}, {3, 4}),
                       variant({3, 2}, {3, 4}, ta),
                       variant({2, 3}, {4, 3}, tb),
                       variant({3, 2}, {4, 3}, both),
                       variant({9, 17}, {17, 5}),
                       variant({3}, {3}),
                       variant({3}, {3, 4}),
                       variant({3}, {4, 3}, tb),
                       variant({2, 3}, {3}),
                       variant({3, 2}, {3}, ta),
                       variant({3}, {2, 3, 4}),
                       variant({2, 4, 3}, {3}),
                       variant({2, 3, 4}, {2, 4, 5}),
                       variant({2, 4, 3}, {2, 5, 4}, both),
                       variant({2, 3, 4}, {4, 5}),
                       variant({2, 3, 4}, {5, 4}, tb),
                       variant({2, 4, 3}, {4, 5}, ta),
                       variant({3, 4}, {2, 4, 5}),
                       variant({4, 3}, {2, 5, 4}, both),
                       variant({3, 1, 3, 4}, {1, 2, 4, 2}),
                       variant({3, 1, 4, 3}, {2, 2, 4}, both),
                       variant({1, 1}, {1, 1}),
                       variant({1}, {1}),
                       variant({2, 0}, {0, 3}),
                       variant({0, 2}, {2, 3}),
                       variant({2, 2}, {2, 0}),
                       variant({0, 2, 3}, {3, 2}),
                       variant({2, 0, 3}, {2, 3, 2})},
          .refusals = {refuses_shapes("matmul", {2, 3}, {4, 5}, call),
                       refuses_shapes("matmul", {2, 3, 4}, {5, 6}, call),
                       refuses_shapes("matmul", {3}, {4, 5}, call),
                       refuses_shapes("matmul", {2, 3}, {4}, call),
                       refuses_shapes("matmul", {2, 3, 4}, {3, 4, 5}, call),
                       refuses_shapes("matmul", {}, {2, 2}, call),
                       refuses<ShapeError>("1-D transposed", {"matmul", "(3)", "transposed"}, [ta] {
                         matmul(zeros({3}), zeros({3, 2}), ta);
                       })}};
}

Row linear_row() {
  const auto variant = [](Shape x, std::int64_t out, bool bias) -> Variant {
    std::vector<In> inputs = {{.shape = x}, {.shape = {x.back(), out}}};
    if (bias) inputs.push_back({.shape = {out}});
    return {text(x, " to ", out, bias ? " with bias" : ""), inputs,
            [bias](const List& in) { return linear(in[0], in[1], bias ? in[2] : Tensor()); },
            [bias](const Arrays& in) {
              const Array y = product(in[0], in[1], {});
              return bias ? reference::each(y, in[2], [](double a, double b) { return a + b; }) : y;
            }};
  };
  std::vector<Variant> variants;
  for (const bool bias : {true, false})
    for (const Shape& x : {Shape{3}, Shape{5, 3}, Shape{2, 3, 4}, Shape{1}, Shape{1, 1},
                           Shape{0, 3}, Shape{2, 0, 3}, Shape{2, 0}})
      variants.push_back(variant(x, x.numel() == 1 ? 1 : 4, bias));
  const auto call = [](const Tensor& x, const Tensor& w) { return linear(x, w); };
  return {.declaration = "linear(Tensor, Tensor, Tensor)",
          .name = "linear",
          .saved = 3,
          .variants = std::move(variants),
          .refusals = {refuses_shapes("linear", {2, 3}, {4, 3}, call),
                       refuses_shapes("linear", {2, 3}, {3}, call),
                       refuses<ShapeError>("bias", {"linear", "(2, 3)", "(3, 4)", "(3)"}, [] {
                         linear(zeros({2, 3}), zeros({3, 4}), zeros({3}));
                       })}};
}

}  // namespace

std::vector<Row> matmul_rows() { return {matmul_row(), linear_row()}; }

}  // namespace heed::op_table
