#include "op_table.h"

#include <heed/autograd/node.h>
#include <heed/autograd/rng.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace heed::op_table {
namespace {

double draw_one(const In& in, Rng& rng) {
  if (!in.choices.empty())
    return in.choices[static_cast<std::size_t>(
        rng.integer(static_cast<std::int64_t>(in.choices.size())))];
  for (;;) {
    const double v = in.low + (in.high - in.low) * rng.uniform();
    const auto near = [&](double kink) { return std::abs(v - kink) < in.margin; };
    if (std::ranges::none_of(in.kinks, near)) return v;
  }
}

/// Different points of a grid, in random order.
std::vector<double> draw_apart(const std::vector<In>& inputs, Rng& rng) {
  std::int64_t count = 0;
  for (const In& in : inputs) count += in.shape.numel();
  std::vector<double> values;
  for (const std::int64_t i : rng.permutation(count))
    values.push_back(0.17 * static_cast<double>(i - count / 2) + 0.03);
  return values;
}

/// Adds the family and what is said about the op, which is known by its name.
Row described(Row row) {
  const std::string op = row.declaration.substr(0, row.declaration.find('('));
  for (const Family& family : families())
    for (const About& about : family.ops)
      if (about.op == op) {
        row.family = family.name;
        row.about = about;
        return row;
      }
  throw ValueError(text("op table: ", op, " is in no family; describe it in op_families.cpp"));
}

}  // namespace

const std::vector<Row>& rows() {
  static const std::vector<Row> all = [] {
    std::vector<Row> result;
    for (const auto family : {elementwise_rows, activation_rows, compare_rows, reduce_rows,
                              shape_rows, part_rows, index_rows, matmul_rows, softmax_rows,
                              norm_rows, loss_rows, dropout_rows, attention_rows})
      for (Row& row : family()) result.push_back(described(std::move(row)));
    return result;
  }();
  return all;
}

List draw(const Variant& variant, DType dtype, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<double> apart;
  if (variant.apart) apart = draw_apart(variant.inputs, rng);
  auto next = apart.begin();
  List result;
  for (const In& in : variant.inputs) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < in.shape.numel(); ++i)
      values.push_back(static_cast<float>(variant.apart ? *next++ : draw_one(in, rng)));
    result.push_back(tensor(std::move(values), in.shape, dtype));
  }
  return result;
}

Arrays arrays(const List& tensors) {
  Arrays result;
  for (const Tensor& x : tensors) result.push_back({x.shape(), x.to_vector()});
  return result;
}

std::set<const Storage*> saved_by(const Tensor& y) {
  std::set<const Storage*> found;
  std::set<const Node*> seen;
  std::vector<const Node*> waiting = {y.node().get()};
  const auto keep = [&](const Saved& saved, std::string_view op) {
    if (saved.has_values()) found.insert(saved.unpack(op, 0, {}).storage().get());
  };
  while (!waiting.empty()) {
    const Node* node = waiting.back();
    waiting.pop_back();
    if (!node || !seen.insert(node).second) continue;
    keep(node->output(), node->name());
    for (const Saved& input : node->inputs()) {
      keep(input, node->name());
      waiting.push_back(input.node().get());
    }
  }
  return found;
}

Tensor numbers(const Mask& mask) {
  const auto values = mask.to_vector();
  return tensor(std::vector<double>(values.begin(), values.end()), mask.shape(), f64);
}

Tensor numbers(const Tokens& tokens) {
  const auto values = tokens.to_vector();
  return tensor(std::vector<double>(values.begin(), values.end()), tokens.shape(), f64);
}

Refusal refuses_shapes(std::string name, Shape a, Shape b,
                       std::function<Tensor(const Tensor&, const Tensor&)> call) {
  return refuses<ShapeError>(text(a, " and ", b), {std::move(name), text(a), text(b)},
                             [a, b, call] { call(zeros(a, f64), zeros(b, f64)); });
}

std::ostream& operator<<(std::ostream& out, const Row& row) { return out << row.declaration; }

}  // namespace heed::op_table
