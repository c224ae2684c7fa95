#include <heed/autograd/autograd.h>

#include <utility>

#include "op_table.h"

namespace heed::op_table {
namespace {

Row along_axis(std::string name, Tensor (*call)(const Tensor&, std::int64_t),
               reference::Row (*line)(const reference::Row&)) {
  std::vector<Variant> variants;
  for (const auto& [shape, axis] : std::vector<std::pair<Shape, std::size_t>>{{{3, 5}, 1},
                                                                              {{3, 5}, 0},
                                                                              {{2, 3, 4}, 1},
                                                                              {{2, 3, 4}, 2},
                                                                              {{37}, 0},
                                                                              {{1}, 0},
                                                                              {{4, 1}, 1},
                                                                              {{0, 3}, 1},
                                                                              {{0, 3}, 0},
                                                                              {{2, 0}, 1}})
    variants.push_back(
        {text(shape, " axis ", axis),
         {{.shape = shape, .low = -4, .high = 4}},
         [call, at = static_cast<std::int64_t>(axis) -
                     (axis % 2 ? shape.ndim() : 0)](const List& x) { return call(x[0], at); },
         [line, axis = axis](const Arrays& x) { return reference::along(x[0], axis, line); }});
  return {.declaration = name + "(Tensor, std::int64_t)",
          .name = name,
          .saved = 1,
          .variants = std::move(variants),
          .refusals = {refuses<IndexError>("axis outside", {name, "axis 2"}, [call] {
            call(zeros({2, 3}), 2);
          })}};
}

Mask every_third(const Shape& shape) {
  std::vector<bool> hidden(static_cast<std::size_t>(shape.numel()));
  for (std::size_t i = 0; i < hidden.size(); ++i) hidden[i] = i % 3 == 1;
  return mask(hidden, shape);
}

Row masked_fill_row() {
  const auto variant = [](Shape shape, Shape mask_shape) -> Variant {
    const Mask m = every_third(mask_shape);
    return {text(shape, " mask ", mask_shape),
            {{.shape = shape}},
            [m](const List& x) { return masked_fill(x[0], m, -7.5); },
            [m](const Arrays& x) {
              return reference::each(
                  x[0], Array{m.shape(), numbers(m).to_vector()},
                  [](double v, double hidden) { return hidden != 0 ? -7.5 : v; });
            }};
  };
  return {.declaration = "masked_fill(Tensor, Mask, double)",
          .name = "masked_fill",
          .saved = 0,
          .variants = {variant({3, 4}, {3, 4}), variant({3, 4}, {4}), variant({3, 4}, {3, 1}),
                       variant({2, 3, 4}, {2, 1, 4}), variant({2, 3}, {}), variant({1}, {1}),
                       variant({0, 3}, {3}), variant({}, {})},
          .refusals = {refuses<ShapeError>("wide mask", {"masked_fill", "(2, 3)", "(3)"},
                                           [] {
                                             masked_fill(zeros({3}), every_third({2, 3}), 0);
                                           }),
                       refuses<ShapeError>("other mask", {"masked_fill", "(2)", "(2, 3)"}, [] {
                         masked_fill(zeros({2, 3}), every_third({2}), 0);
                       })}};
}

/// 1 where the key comes after what the query sees.
Array future(std::int64_t queries, std::int64_t keys) {
  return reference::build({queries, keys}, [=](const auto& index) {
    return index[1] > index[0] + keys - queries ? 1. : 0.;
  });
}

std::vector<Row> causal_mask_rows() {
  std::vector<Variant> both, one;
  for (const auto& [queries, keys] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {3, 3}, {2, 5}, {5, 2}, {1, 4}, {1, 1}, {0, 3}, {3, 0}})
    both.push_back(
        {text(queries, " of ", keys),
         {},
         [queries = queries, keys = keys](const List&) {
           return numbers(causal_mask(queries, keys));
         },
         [queries = queries, keys = keys](const Arrays&) { return future(queries, keys); }});
  for (const std::int64_t n : {4, 1, 0})
    one.push_back({text(n),
                   {},
                   [n](const List&) { return numbers(causal_mask(n)); },
                   [n](const Arrays&) { return future(n, n); }});
  const Refusal negative = refuses<ShapeError>("negative", {"-1"}, [] { causal_mask(-1); });
  return {{.declaration = "causal_mask(std::int64_t, std::int64_t)",
           .name = "causal_mask",
           .order = 0,
           .variants = both,
           .refusals = {refuses<ShapeError>("negative", {"-1"}, [] { causal_mask(2, -1); })}},
          {.declaration = "causal_mask(std::int64_t)",
           .name = "causal_mask",
           .order = 0,
           .variants = one,
           .refusals = {negative}}};
}

}  // namespace

std::vector<Row> softmax_rows() {
  std::vector<Row> rows = {along_axis("softmax", softmax, reference::softmax),
                           along_axis("log_softmax", log_softmax, reference::log_softmax),
                           masked_fill_row()};
  for (Row& row : causal_mask_rows()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace heed::op_table
