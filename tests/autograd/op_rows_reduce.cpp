#include <heed/autograd/autograd.h>

#include <algorithm>
#include <cmath>

#include "op_table.h"

namespace heed::op_table {
namespace {

using Reduction = Tensor (*)(const Tensor&, const Axes&, bool);
using OfRow = std::function<double(const reference::Row&)>;
using List64 = std::vector<std::size_t>;

/// A reduction of a tensor of this shape over these axes (not negative).
Variant over(const Shape& shape, const List64& axes, bool keepdim, bool apart,
             std::function<Tensor(const Tensor&, const Axes&, bool)> call, const OfRow& f) {
  Axes named;
  named.all = false;
  // Every other axis is counted from the back.
  for (const std::size_t axis : axes)
    named.list.push_back(static_cast<std::int64_t>(axis) - (axis % 2 ? shape.ndim() : 0));
  std::string label = text(shape, " over");
  for (const std::int64_t axis : named.list) label += text(' ', axis);
  return {label + (keepdim ? " kept" : ""),
          {{.shape = shape, .kinks = {0}}},
          [=](const List& x) { return call(x[0], named, keepdim); },
          [=](const Arrays& x) { return reference::reduce(x[0], axes, keepdim, f); },
          apart};
}

/// All axes, by the default.
Variant over_all(const Shape& shape, bool apart,
                 std::function<Tensor(const Tensor&, const Axes&, bool)> call, const OfRow& f) {
  return {
      text(shape, " over all"),
      {{.shape = shape, .kinks = {0}}},
      [=](const List& x) { return call(x[0], {}, false); },
      [=](const Arrays& x) { return reference::reduce(x[0], reference::all_axes(x[0]), false, f); },
      apart};
}

std::vector<Variant> reductions(std::function<Tensor(const Tensor&, const Axes&, bool)> call,
                                const OfRow& f, bool apart = false) {
  std::vector<Variant> result = {over_all({2, 3, 4}, apart, call, f), over_all({}, apart, call, f),
                                 over_all({1}, apart, call, f), over_all({37}, apart, call, f)};
  for (const bool keepdim : {false, true})
    for (const List64& axes : std::vector<List64>{{0}, {1}, {2}, {0, 1}, {1, 2}, {2, 0}, {0, 1, 2}})
      result.push_back(over({2, 3, 4}, axes, keepdim, apart, call, f));
  result.push_back(over({2, 1, 3}, {1}, false, apart, call, f));
  result.push_back(over({0, 3}, {1}, false, apart, call, f));
  result.push_back(over({0, 3}, {1}, true, apart, call, f));
  return result;
}

Refusal refuses_nothing(const std::string& name, Reduction call) {
  return refuses<ShapeError>("of nothing", {name, "(2, 0)"}, [call] {
    call(zeros({2, 0}), 1, false);
  });
}

Row reduction(const std::string& name, int saved, Reduction call, OfRow f, bool apart = false) {
  return {.declaration = name + "(Tensor, Axes, bool)",
          .name = name,
          .saved = saved,
          .variants = reductions(call, f, apart),
          .refusals = {refuses<IndexError>("axis outside", {name, "axis 2", "-2 to 1"},
                                           [call] {
                                             call(zeros({2, 3}), 2, false);
                                           }),
                       refuses<IndexError>("axis twice", {name, "axis", "twice"}, [call] {
                         call(zeros({2, 3}), {1, -1}, false);
                       })}};
}

Row sum_row() {
  Row row = reduction("sum", 0, sum, reference::sum);
  row.variants.push_back(over_all({0}, false, sum, reference::sum));
  row.variants.push_back(over({2, 0}, {1}, false, false, sum, reference::sum));
  row.variants.push_back(over({2, 0, 3}, {1}, true, false, sum, reference::sum));
  return row;
}

double largest(const reference::Row& row) { return *std::ranges::max_element(row); }
double smallest(const reference::Row& row) { return *std::ranges::min_element(row); }
double length(const reference::Row& row) {
  double squares = 0;
  for (const double v : row) squares += v * v;
  return std::sqrt(squares);
}

Row var_row() {
  std::vector<Variant> variants;
  for (const double correction : {0., 0.5}) {
    const auto call = [correction](const Tensor& x, const Axes& axes, bool keepdim) {
      return var(x, axes, keepdim, correction);
    };
    const auto f = [correction](const reference::Row& row) {
      return reference::variance(row, correction);
    };
    for (Variant& variant : reductions(call, f)) {
      variant.label += text(" correction ", correction);
      variants.push_back(std::move(variant));
    }
  }
  variants.push_back({"default",
                      {{.shape = {2, 3}}},
                      [](const List& x) { return var(x[0]); },
                      [](const Arrays& x) {
                        return reference::reduce(x[0], {0, 1}, false, [](const auto& row) {
                          return reference::variance(row, 1);
                        });
                      }});
  return {.declaration = "var(Tensor, Axes, bool, double)",
          .name = "var",
          .saved = 2,
          .variants = std::move(variants),
          .refusals = {refuses<ShapeError>("of one", {"var", "(1)", "correction 1"},
                                           [] { var(zeros({1})); }),
                       refuses<ShapeError>("of nothing", {"var", "(2, 0)"}, [] {
                         var(zeros({2, 0}), 1, false, 0);
                       })}};
}

// ---- along one axis

reference::Row running_sum(const reference::Row& row) {
  reference::Row result;
  double total = 0;
  for (const double v : row) result.push_back(total += v);
  return result;
}

Row cumsum_row() {
  std::vector<Variant> variants;
  for (const auto& [shape, axis] : std::vector<std::pair<Shape, std::size_t>>{
           {{2, 3, 4}, 0}, {{2, 3, 4}, 1}, {{2, 3, 4}, 2}, {{1}, 0}, {{0}, 0}, {{2, 0}, 0}})
    variants.push_back(
        {text(shape, " axis ", axis),
         {{.shape = shape}},
         [axis = axis](const List& x) { return cumsum(x[0], static_cast<std::int64_t>(axis)); },
         [axis = axis](const Arrays& x) { return reference::along(x[0], axis, running_sum); }});
  return {.declaration = "cumsum(Tensor, std::int64_t)",
          .name = "cumsum",
          .saved = 0,
          .variants = std::move(variants),
          .refusals = {refuses<IndexError>("axis outside", {"cumsum", "axis 1"},
                                           [] { cumsum(zeros({2}), 1); })}};
}

double first_largest(const reference::Row& row) {
  return static_cast<double>(std::ranges::max_element(row) - row.begin());
}

const std::vector<std::pair<Shape, std::size_t>> kLines = {
    {{2, 3, 4}, 0}, {{2, 3, 4}, 1}, {{2, 3, 4}, 2}, {{40}, 0}, {{1}, 0}, {{0, 3}, 1}};

Row max_row() {
  std::vector<Variant> variants;
  for (const auto& [shape, axis] : kLines)
    for (const bool keepdim : {false, true})
      variants.push_back({text(shape, " axis ", axis, keepdim ? " kept" : ""),
                          {{.shape = shape}},
                          [axis = axis, keepdim](const List& x) {
                            return max(x[0], static_cast<std::int64_t>(axis), keepdim).values;
                          },
                          [axis = axis, keepdim](const Arrays& x) {
                            return reference::reduce(x[0], {axis}, keepdim, largest);
                          },
                          true});
  return {.declaration = "max(Tensor, std::int64_t, bool)",
          .name = "max",
          .saved = 0,
          .variants = std::move(variants),
          .refusals = {refuses<ShapeError>("of nothing", {"max", "(2, 0)"}, [] {
            max(zeros({2, 0}), 1);
          })}};
}

Row argmax_row() {
  std::vector<Variant> variants;
  for (const auto& [shape, axis] : kLines) {
    const In ties = {.shape = shape, .choices = {-1, 0, 2}};
    const auto loops = [axis = axis](const Arrays& x) {
      return reference::reduce(x[0], {axis}, false, first_largest);
    };
    const auto from_back = static_cast<std::int64_t>(axis) - shape.ndim();
    variants.push_back({text(shape, " axis ", axis),
                        {ties},
                        [=](const List& x) { return numbers(argmax(x[0], from_back)); },
                        loops});
    variants.push_back({text(shape, " axis ", axis, " indices of max"),
                        {ties},
                        [=](const List& x) { return numbers(max(x[0], from_back).indices); },
                        loops});
  }
  return {.declaration = "argmax(Tensor, std::int64_t)",
          .name = "argmax",
          .order = 0,
          .variants = std::move(variants),
          .refusals = {refuses<ShapeError>("of nothing", {"argmax", "(2, 0)"}, [] {
            argmax(zeros({2, 0}));
          })}};
}

Row sum_to_row() {
  std::vector<Variant> variants;
  for (const auto& [from, to] : std::vector<std::pair<Shape, Shape>>{{{2, 3, 4}, {3, 1}},
                                                                     {{2, 3, 4}, {2, 1, 4}},
                                                                     {{2, 3, 4}, {}},
                                                                     {{2, 3}, {2, 3}},
                                                                     {{1, 1}, {1}},
                                                                     {{4, 0}, {4, 1}},
                                                                     {{2, 0}, {0}}})
    variants.push_back({text(from, " to ", to),
                        {{.shape = from}},
                        [to = to](const List& x) { return sum_to(x[0], to); },
                        [to = to](const Arrays& x) {
                          Array result{to, reference::Row(static_cast<std::size_t>(to.numel()), 0)};
                          for (const auto& index : reference::indices(x[0].shape)) {
                            std::int64_t at = 0;
                            for (std::size_t i = 0; i < to.size(); ++i) {
                              const auto along = index[index.size() - to.size() + i];
                              at = at * to[i] + (to[i] == 1 ? 0 : along);
                            }
                            result.values[static_cast<std::size_t>(at)] += x[0](index);
                          }
                          return result;
                        }});
  return {.declaration = "sum_to(Tensor, Shape)",
          .name = "sum_to",
          .saved = 0,
          .variants = std::move(variants),
          .refusals = {refuses<ShapeError>("not broadcast", {"sum_to", "(2)", "(2, 3)"}, [] {
            sum_to(zeros({2, 3}), {2});
          })}};
}

}  // namespace

std::vector<Row> reduce_rows() {
  std::vector<Row> rows = {sum_row(),
                           reduction("mean", 0, mean, reference::mean),
                           var_row(),
                           reduction("amax", 2, amax, largest, true),
                           reduction("amin", 2, amin, smallest, true),
                           reduction("logsumexp", 1, logsumexp, reference::logsumexp),
                           reduction("norm", 2, norm, length),
                           max_row(),
                           argmax_row(),
                           cumsum_row(),
                           sum_to_row()};
  for (Row& row : rows) {
    if (row.name == "mean") row.refusals.push_back(refuses_nothing("mean", mean));
    if (row.name == "amax") row.refusals.push_back(refuses_nothing("amax", amax));
    if (row.name == "amin") row.refusals.push_back(refuses_nothing("amin", amin));
  }
  return rows;
}

}  // namespace heed::op_table
