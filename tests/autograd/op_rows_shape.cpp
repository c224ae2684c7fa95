#include <heed/autograd/autograd.h>

#include <algorithm>
#include <utility>

#include "op_table.h"

namespace heed::op_table {
namespace {

using reference::Index;

/// An op that moves elements: the one at `index` of the result comes from `source(index)` of x.
Variant moves(std::string label, const Shape& from, const Shape& to,
              std::function<Tensor(const Tensor&)> call, std::function<Index(Index)> source) {
  return {std::move(label),
          {{.shape = from}},
          [call = std::move(call)](const List& x) { return call(x[0]); },
          [to, source = std::move(source)](const Arrays& x) {
            return reference::build(to, [&](const Index& index) { return x[0](source(index)); });
          }};
}

/// An op that keeps the order of the elements.
Variant keeps(std::string label, const Shape& from, const Shape& to,
              std::function<Tensor(const Tensor&)> call) {
  return {std::move(label),
          {{.shape = from}},
          [call = std::move(call)](const List& x) { return call(x[0]); },
          [to](const Arrays& x) {
            return Array{to, x[0].values};
          }};
}

Row reshape_row() {
  std::vector<Variant> variants;
  for (const auto& [from, to] : std::vector<std::pair<Shape, Shape>>{
           {{2, 3, 4}, {4, 6}}, {{6}, {1, 2, 1, 3}}, {{1}, {}}, {{}, {1, 1}}, {{2, 0}, {0, 5}}})
    variants.push_back(keeps(text(from, " to ", to), from, to,
                             [to = to](const Tensor& x) { return reshape(x, to); }));
  variants.push_back(keeps("first open", {2, 3, 4}, {6, 4}, [](const Tensor& x) {
    return reshape(x, {-1, 4});
  }));
  variants.push_back(keeps("last open", {2, 3, 4}, {2, 12}, [](const Tensor& x) {
    return reshape(x, {2, -1});
  }));
  variants.push_back(keeps("open and empty", {0, 2}, {2, 0}, [](const Tensor& x) {
    return reshape(x, {2, -1});
  }));
  const auto refuse = [](std::string label, AxisList axes, std::vector<std::string> says) {
    says.push_back("reshape");
    return refuses<ShapeError>(std::move(label), std::move(says), [axes] {
      reshape(zeros({2, 3}), axes);
    });
  };
  return {.declaration = "reshape(Tensor, AxisList)",
          .name = "reshape",
          .variants = std::move(variants),
          .refusals = {refuse("other count", {4}, {"(2, 3)", "6", "(4)"}),
                       refuse("not a multiple", {4, -1}, {"(2, 3)", "4"}),
                       refuse("two open", {-1, -1}, {"-1"}),
                       refuse("negative", {-2, -3}, {"(2, 3)", "(-2, -3)"}),
                       refuse("0 and open", {0, -1}, {"(2, 3)", "0"})}};
}

Variant permuted(const Shape& from, const std::vector<std::int64_t>& order) {
  Shape to;
  for (const std::int64_t axis : order) to.push_back(from[static_cast<std::size_t>(axis)]);
  std::string label = text(from, " by");
  for (const std::int64_t axis : order) label += text(' ', axis);
  return moves(
      label, from, to, [order](const Tensor& x) { return permute(x, order); },
      [order](const Index& index) {
        Index source(order.size());
        for (std::size_t i = 0; i < order.size(); ++i)
          source[static_cast<std::size_t>(order[i])] = index[i];
        return source;
      });
}

Row permute_row() {
  return {.declaration = "permute(Tensor, AxisList)",
          .name = "permute",
          .variants = {permuted({2, 3, 4}, {1, 2, 0}), permuted({2, 3, 4}, {2, 0, 1}),
                       permuted({2, 3, 4}, {0, 2, 1}), permuted({2, 3, 4}, {1, 0, 2}),
                       permuted({2, 3, 4}, {0, 1, 2}), permuted({2, 3, 2, 2}, {3, 1, 0, 2}),
                       permuted({1}, {0}), permuted({}, {}), permuted({2, 0, 3}, {2, 0, 1})},
          .refusals = {refuses<ShapeError>("axis twice", {"permute", "(2, 3)"},
                                           [] {
                                             permute(zeros({2, 3}), {0, 0});
                                           }),
                       refuses<ShapeError>("axis missing", {"permute", "(2, 3)"},
                                           [] {
                                             permute(zeros({2, 3}), {0});
                                           }),
                       refuses<IndexError>("axis outside", {"permute", "axis 2"}, [] {
                         permute(zeros({2, 3}), {0, 2});
                       })}};
}

Row transpose_row() {
  const auto swapped = [](std::size_t a, std::size_t b) {
    return [=](Index index) {
      std::swap(index[a], index[b]);
      return index;
    };
  };
  return {.declaration = "transpose(Tensor, std::int64_t, std::int64_t)",
          .name = "permute",
          .variants = {moves(
                           "last two", {2, 3, 4}, {2, 4, 3},
                           [](const Tensor& x) { return transpose(x); }, swapped(1, 2)),
                       moves(
                           "0 and 2", {2, 3, 4}, {4, 3, 2},
                           [](const Tensor& x) { return transpose(x, 0, -1); }, swapped(0, 2)),
                       moves(
                           "0 and 0", {2, 3}, {2, 3},
                           [](const Tensor& x) { return transpose(x, 0, 0); }, swapped(0, 0)),
                       moves(
                           "single", {1, 1}, {1, 1}, [](const Tensor& x) { return transpose(x); },
                           swapped(0, 1)),
                       moves(
                           "empty", {0, 3}, {3, 0}, [](const Tensor& x) { return transpose(x); },
                           swapped(0, 1))},
          .refusals = {refuses<IndexError>("one axis", {"transpose", "axis -2"},
                                           [] { transpose(zeros({2})); })}};
}

Row squeeze_row() {
  return {.declaration = "squeeze(Tensor, std::int64_t)",
          .name = "reshape",
          .variants = {keeps("middle", {2, 1, 3}, {2, 3},
                             [](const Tensor& x) { return squeeze(x, 1); }),
                       keeps("last", {2, 1}, {2}, [](const Tensor& x) { return squeeze(x, -1); }),
                       keeps("only", {1}, {}, [](const Tensor& x) { return squeeze(x, 0); }),
                       keeps("empty", {0, 1}, {0}, [](const Tensor& x) { return squeeze(x, 1); })},
          .refusals = {refuses<ShapeError>("long axis", {"squeeze", "axis 1", "(2, 3)"}, [] {
            squeeze(zeros({2, 3}), 1);
          })}};
}

Row unsqueeze_row() {
  return {.declaration = "unsqueeze(Tensor, std::int64_t)",
          .name = "reshape",
          .variants =
              {keeps("first", {2, 3}, {1, 2, 3}, [](const Tensor& x) { return unsqueeze(x, 0); }),
               keeps("middle", {2, 3}, {2, 1, 3}, [](const Tensor& x) { return unsqueeze(x, 1); }),
               keeps("last", {2, 3}, {2, 3, 1}, [](const Tensor& x) { return unsqueeze(x, -1); }),
               keeps("scalar", {}, {1}, [](const Tensor& x) { return unsqueeze(x, 0); }),
               keeps("empty", {0}, {0, 1}, [](const Tensor& x) { return unsqueeze(x, 1); })},
          .refusals = {refuses<IndexError>("axis outside", {"unsqueeze", "axis 4"}, [] {
            unsqueeze(zeros({2, 3}), 4);
          })}};
}

Row broadcast_to_row() {
  std::vector<Variant> variants;
  for (const auto& [from, to] : std::vector<std::pair<Shape, Shape>>{{{3, 1}, {2, 3, 4}},
                                                                     {{2, 1, 4}, {2, 3, 4}},
                                                                     {{4}, {3, 4}},
                                                                     {{}, {2, 3}},
                                                                     {{2, 3}, {2, 3}},
                                                                     {{1}, {1, 1}},
                                                                     {{4, 1}, {4, 0}},
                                                                     {{0}, {2, 0}}})
    variants.push_back(moves(
        text(from, " to ", to), from, to,
        [to = to](const Tensor& x) { return broadcast_to(x, to); },
        [](const Index& index) { return index; }));
  return {.declaration = "broadcast_to(Tensor, Shape)",
          .name = "broadcast_to",
          .variants = std::move(variants),
          .refusals = {refuses<ShapeError>("no fit", {"broadcast_to", "(2, 3)", "(2, 4)"},
                                           [] {
                                             broadcast_to(zeros({2, 3}), {2, 4});
                                           }),
                       refuses<ShapeError>("fewer axes", {"broadcast_to", "(1, 3)", "(3)"}, [] {
                         broadcast_to(zeros({1, 3}), {3});
                       })}};
}

Row flip_row() {
  const auto flipped = [](const Shape& shape, std::size_t axis) {
    return moves(
        text(shape, " axis ", axis), shape, shape,
        [axis](const Tensor& x) { return flip(x, static_cast<std::int64_t>(axis)); },
        [=](Index index) {
          index[axis] = shape[axis] - 1 - index[axis];
          return index;
        });
  };
  return {.declaration = "flip(Tensor, std::int64_t)",
          .name = "flip",
          .variants = {flipped({2, 3, 4}, 0), flipped({2, 3, 4}, 1), flipped({2, 3, 4}, 2),
                       flipped({1}, 0), flipped({0}, 0), flipped({2, 0}, 0)},
          .refusals = {refuses<IndexError>("axis outside", {"flip", "axis -2"},
                                           [] { flip(zeros({2}), -2); })}};
}

std::vector<Row> head_rows() {
  const auto split = [](Shape from, std::int64_t heads) {
    const std::int64_t width = from[2] / heads;
    return moves(
        text(from, ' ', heads), from, {from[0], heads, from[1], width},
        [heads](const Tensor& x) { return split_heads(x, heads); },
        [width](const Index& i) {
          return Index{i[0], i[2], i[1] * width + i[3]};
        });
  };
  const auto merge = [](Shape from) {
    const std::int64_t width = from[3];
    return moves(
        text(from), from, {from[0], from[2], from[1] * width},
        [](const Tensor& x) { return merge_heads(x); },
        [width](const Index& i) {
          return Index{i[0], i[2] / width, i[1], i[2] % width};
        });
  };
  return {{.declaration = "split_heads(Tensor, std::int64_t)",
           .name = "permute",
           .variants = {split({2, 3, 8}, 2), split({2, 3, 8}, 1), split({2, 3, 8}, 8),
                        split({1, 1, 1}, 1), split({2, 0, 4}, 2)},
           .refusals = {refuses<ShapeError>("not a multiple", {"split_heads", "3", "(2, 3, 8)"},
                                            [] {
                                              split_heads(zeros({2, 3, 8}), 3);
                                            }),
                        refuses<ShapeError>("two axes", {"split_heads", "(3, 8)"},
                                            [] {
                                              split_heads(zeros({3, 8}), 2);
                                            })}},
          {.declaration = "merge_heads(Tensor)",
           .name = "reshape",
           .variants = {merge({2, 2, 3, 4}), merge({2, 1, 3, 4}), merge({1, 1, 1, 1}),
                        merge({2, 2, 0, 4})},
           .refusals = {refuses<ShapeError>("three axes", {"merge_heads", "(2, 3, 8)"}, [] {
             merge_heads(zeros({2, 3, 8}));
           })}}};
}

}  // namespace

std::vector<Row> shape_rows() {
  std::vector<Row> rows = {reshape_row(),   permute_row(),      transpose_row(), squeeze_row(),
                           unsqueeze_row(), broadcast_to_row(), flip_row()};
  for (Row& row : head_rows()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace heed::op_table
