#include <heed/autograd/autograd.h>

#include <cmath>
#include <functional>

#include "op_table.h"

namespace heed::op_table {
namespace {

reference::Row normalized(const reference::Row& row, double eps) {
  const double center = reference::mean(row);
  const double root = std::sqrt(reference::variance(row, 0) + eps);
  reference::Row result;
  for (const double v : row) result.push_back((v - center) / root);
  return result;
}

reference::Row scaled(const reference::Row& row, double eps) {
  double squares = 0;
  for (const double v : row) squares += v * v;
  const double root = std::sqrt(squares / static_cast<double>(row.size()) + eps);
  reference::Row result;
  for (const double v : row) result.push_back(v / root);
  return result;
}

const std::vector<Shape> kShapes = {{6}, {3, 5}, {2, 3, 37}, {2, 1}, {1}, {0, 4}, {2, 0, 4}};

Row layer_norm_row() {
  std::vector<Variant> variants;
  for (const Shape& shape : kShapes)
    for (const auto& [w, b] :
         {std::pair{true, true}, {true, false}, {false, true}, {false, false}}) {
      std::vector<In> inputs = {{.shape = shape}};
      if (w) inputs.push_back({.shape = {shape.back()}});
      if (b) inputs.push_back({.shape = {shape.back()}});
      variants.push_back(
          {text(shape, w ? " w" : "", b ? " b" : ""), inputs,
           [w = w, b = b](const List& x) {
             return layer_norm(x[0], w ? x[1] : Tensor(), b ? x.back() : Tensor(), 0.1);
           },
           [w = w, b = b](const Arrays& x) {
             Array y = reference::along(x[0], x[0].shape.size() - 1,
                                        [](const auto& row) { return normalized(row, 0.1); });
             if (w) y = reference::each(y, x[1], std::multiplies());
             if (b) y = reference::each(y, x.back(), std::plus());
             return y;
           }});
    }
  variants.push_back({"default eps",
                      {{.shape = {2, 5}}},
                      [](const List& x) { return layer_norm(x[0]); },
                      [](const Arrays& x) {
                        return reference::along(
                            x[0], 1, [](const auto& row) { return normalized(row, 1e-5); });
                      }});
  return {.declaration = "layer_norm(Tensor, Tensor, Tensor, double)",
          .name = "layer_norm",
          .saved = 3,
          .variants = std::move(variants),
          .refusals = {
              refuses_shapes("layer_norm", {2, 3}, {2},
                             [](const Tensor& x, const Tensor& w) { return layer_norm(x, w); }),
              refuses_shapes("layer_norm", {2, 3}, {3, 1},
                             [](const Tensor& x, const Tensor& b) { return layer_norm(x, {}, b); }),
              refuses<ShapeError>("of nothing", {"layer_norm", "(2, 0)"},
                                  [] {
                                    layer_norm(zeros({2, 0}));
                                  }),
              refuses<ShapeError>("scalar", {"layer_norm", "()"}, [] { layer_norm(zeros({})); })}};
}

Row rms_norm_row() {
  std::vector<Variant> variants;
  for (const Shape& shape : kShapes)
    for (const bool w : {true, false}) {
      std::vector<In> inputs = {{.shape = shape}};
      if (w) inputs.push_back({.shape = {shape.back()}});
      variants.push_back({text(shape, w ? " w" : ""), inputs,
                          [w](const List& x) { return rms_norm(x[0], w ? x[1] : Tensor(), 0.1); },
                          [w](const Arrays& x) {
                            const Array y =
                                reference::along(x[0], x[0].shape.size() - 1,
                                                 [](const auto& row) { return scaled(row, 0.1); });
                            return w ? reference::each(y, x[1], std::multiplies()) : y;
                          }});
    }
  return {
      .declaration = "rms_norm(Tensor, Tensor, double)",
      .name = "rms_norm",
      .saved = 4,
      .variants = std::move(variants),
      .refusals = {refuses_shapes("rms_norm", {2, 3}, {2},
                                  [](const Tensor& x, const Tensor& w) { return rms_norm(x, w); }),
                   refuses<ShapeError>("of nothing", {"rms_norm", "(2, 0)"}, [] {
                     rms_norm(zeros({2, 0}));
                   })}};
}

}  // namespace

std::vector<Row> norm_rows() { return {layer_norm_row(), rms_norm_row()}; }

}  // namespace heed::op_table
