// Ops that cut tensors and put them together.
#include <heed/autograd/autograd.h>

#include <algorithm>

#include "op_table.h"

namespace heed::op_table {
namespace {

using reference::Index;

/// A part of x: the elements start, start + step, ... along an axis.
Variant part(std::string label, const Shape& from, std::size_t axis, std::int64_t start,
             std::int64_t count, std::int64_t step, std::function<Tensor(const Tensor&)> call) {
  Shape to = from;
  to[axis] = count;
  return {std::move(label),
          {{.shape = from}},
          [call = std::move(call)](const List& x) { return call(x[0]); },
          [=](const Arrays& x) {
            return reference::build(to, [&](Index index) {
              index[axis] = start + step * index[axis];
              return x[0](index);
            });
          }};
}

Row slice_row() {
  const auto sliced = [](Shape from, std::size_t axis, std::int64_t start, std::int64_t stop,
                         std::int64_t step, std::int64_t first, std::int64_t count) {
    return part(text(from, " axis ", axis, ' ', start, ':', stop, ':', step), from, axis, first,
                count, step, [=](const Tensor& x) {
                  return slice(x, static_cast<std::int64_t>(axis), start, stop, step);
                });
  };
  return {.declaration = "slice(Tensor, std::int64_t, std::int64_t, std::int64_t, std::int64_t)",
          .name = "slice",
          .variants = {sliced({5, 3}, 0, 1, 4, 1, 1, 3), sliced({2, 7, 3}, 1, 1, 7, 2, 1, 3),
                       sliced({2, 7}, 1, 0, 7, 3, 0, 3), sliced({2, 7}, 1, -3, -1, 1, 4, 2),
                       sliced({4}, 0, 2, 100, 1, 2, 2), sliced({4}, 0, -100, 2, 1, 0, 2),
                       sliced({4}, 0, 3, 1, 1, 3, 0), sliced({4}, 0, 9, 12, 1, 4, 0),
                       sliced({1}, 0, 0, 1, 1, 0, 1), sliced({0, 3}, 0, 0, 2, 1, 0, 0),
                       sliced({2, 0}, 0, 1, 2, 1, 1, 1)},
          .refusals = {refuses<ValueError>("step 0", {"slice", "step 0"},
                                           [] { slice(zeros({4}), 0, 0, 4, 0); }),
                       refuses<IndexError>("axis outside", {"slice", "axis 1"},
                                           [] { slice(zeros({4}), 1, 0, 4); })}};
}

std::vector<Row> split_rows() {
  const auto by_size = [](Shape from, std::size_t axis, std::int64_t size, std::size_t which,
                          std::int64_t count) {
    return part(text(from, " axis ", axis, " by ", size, " part ", which), from, axis,
                static_cast<std::int64_t>(which) * size, count, 1, [=](const Tensor& x) {
                  return split(x, size, static_cast<std::int64_t>(axis)).at(which);
                });
  };
  const std::vector<std::int64_t> sizes = {2, 0, 3};
  const auto by_sizes = [sizes](Shape from, std::size_t axis, std::size_t which,
                                std::int64_t start) {
    return part(text(from, " axis ", axis, " part ", which), from, axis, start, sizes[which], 1,
                [=](const Tensor& x) {
                  return split(x, sizes, static_cast<std::int64_t>(axis)).at(which);
                });
  };
  return {
      {.declaration = "split(Tensor, std::int64_t, std::int64_t)",
       .name = "slice",
       .variants = {by_size({5, 2}, 0, 2, 0, 2), by_size({5, 2}, 0, 2, 2, 1),
                    by_size({2, 6}, 1, 3, 1, 3), by_size({1}, 0, 1, 0, 1),
                    by_size({4, 0}, 0, 3, 1, 1)},
       .refusals = {refuses<ValueError>("size 0", {"split", "size 0"},
                                        [] { split(zeros({4}), 0); })}},
      {.declaration = "split(Tensor, std::vector<std::int64_t>, std::int64_t)",
       .name = "slice",
       .variants = {by_sizes({5, 2}, 0, 0, 0), by_sizes({5, 2}, 0, 1, 2), by_sizes({3, 5}, 1, 2, 2),
                    part("single", {1}, 0, 0, 1, 1,
                         [](const Tensor& x) {
                           return split(x, std::vector<std::int64_t>{1}).at(0);
                         })},
       .refusals = {refuses<ShapeError>("other sum", {"split", "3", "(4)"}, [] {
         split(zeros({4}), std::vector<std::int64_t>{1, 2});
       })}}};
}

/// The inputs one after the other along an axis.
Array one_after_the_other(const Arrays& xs, std::size_t axis) {
  Shape to = xs[0].shape;
  to[axis] = 0;
  for (const Array& x : xs) to[axis] += x.shape[axis];
  return reference::build(to, [&](Index index) {
    std::size_t which = 0;
    while (index[axis] >= xs[which].shape[axis]) index[axis] -= xs[which++].shape[axis];
    return xs[which](index);
  });
}

Row concat_row() {
  const auto joined = [](std::vector<Shape> shapes, std::size_t axis) -> Variant {
    std::vector<In> inputs;
    std::string label = text("axis ", axis);
    for (const Shape& shape : shapes) {
      inputs.push_back({.shape = shape});
      label += text(' ', shape);
    }
    return {label, inputs,
            [axis](const List& x) { return concat(x, static_cast<std::int64_t>(axis)); },
            [axis](const Arrays& x) { return one_after_the_other(x, axis); }};
  };
  return {
      .declaration = "concat(std::vector<Tensor>, std::int64_t)",
      .name = "concat",
      .variants = {joined({{2, 3}, {1, 3}, {3, 3}}, 0), joined({{2, 3}, {2, 1}, {2, 2}}, 1),
                   joined({{2, 1, 3}, {2, 4, 3}}, 1), joined({{3}}, 0), joined({{1}, {1}}, 0),
                   joined({{2, 0}, {2, 3}, {2, 0}}, 1), joined({{0}, {0}}, 0)},
      .refusals = {refuses_shapes("concat", {2, 3}, {2, 4},
                                  [](const Tensor& a, const Tensor& b) {
                                    return concat({a, b});
                                  }),
                   refuses_shapes("concat", {2, 3}, {2},
                                  [](const Tensor& a, const Tensor& b) {
                                    return concat({a, b}, 1);
                                  }),
                   refuses<ShapeError>("nothing", {"concat", "no tensors"}, [] { concat({}); })}};
}

Row stack_row() {
  const auto stacked = [](const Shape& shape, std::size_t count, std::int64_t axis) -> Variant {
    const auto at = static_cast<std::size_t>(axis < 0 ? axis + shape.ndim() + 1 : axis);
    return {text(count, " of ", shape, " axis ", axis), std::vector<In>(count, In{.shape = shape}),
            [axis](const List& x) { return stack(x, axis); },
            [at](const Arrays& x) {
              Arrays wide = x;
              for (Array& array : wide) array.shape.insert(at, 1);
              return one_after_the_other(wide, at);
            }};
  };
  return {
      .declaration = "stack(std::vector<Tensor>, std::int64_t)",
      .name = "concat",
      .variants = {stacked({2, 3}, 3, 0), stacked({2, 3}, 2, 1), stacked({2, 3}, 2, -1),
                   stacked({}, 3, 0), stacked({1}, 1, 0), stacked({0}, 2, 0)},
      .refusals = {refuses_shapes("stack", {2, 3}, {3, 2}, [](const Tensor& a, const Tensor& b) {
        return stack({a, b});
      })}};
}

}  // namespace

std::vector<Row> part_rows() {
  std::vector<Row> rows = {slice_row(), concat_row(), stack_row()};
  for (Row& row : split_rows()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace heed::op_table
