#include <heed/autograd/autograd.h>

#include "op_shapes.h"

namespace heed::op_table {
namespace {

const In kTies = {.choices = {-1, 0, 0.5, 2}};

/// A comparison of two tensors, and with a number; masks as 0 and 1.
template <class Op>
void add_rows(std::vector<Row>& rows, const std::string& symbol, Op op) {
  const auto call = [op](const Tensor& a, const Tensor& b) { return numbers(op(a, b)); };
  const auto f = [op](double a, double b) { return op(a, b) ? 1. : 0.; };
  rows.push_back({.declaration = "operator" + symbol + "(Tensor, Tensor)",
                  .name = "compare",
                  .order = 0,
                  .variants = binary_variants(kTies, kTies, call, f),
                  .refusals = {refuses_shapes("compare", {5, 2, 1}, {5, 2, 2, 3}, call)}});
  rows.push_back({.declaration = "operator" + symbol + "(Tensor, double)",
                  .name = "compare",
                  .order = 0,
                  .variants = unary_variants(
                      "", kTies, [op](const Tensor& x) { return numbers(op(x, 0.5)); },
                      [f](double v) { return f(v, 0.5); })});
}

}  // namespace

std::vector<Row> compare_rows() {
  std::vector<Row> rows;
  add_rows(rows, "<", [](const auto& a, const auto& b) { return a < b; });
  add_rows(rows, ">", [](const auto& a, const auto& b) { return a > b; });
  add_rows(rows, "<=", [](const auto& a, const auto& b) { return a <= b; });
  add_rows(rows, ">=", [](const auto& a, const auto& b) { return a >= b; });
  add_rows(rows, "==", [](const auto& a, const auto& b) { return a == b; });
  add_rows(rows, "!=", [](const auto& a, const auto& b) { return a != b; });
  return rows;
}

}  // namespace heed::op_table
