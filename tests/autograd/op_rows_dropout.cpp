#include <heed/autograd/autograd.h>

#include <limits>

#include "op_table.h"

namespace heed::op_table {
namespace {

/// In training, with a generator made anew for each call.
Tensor drop(const Tensor& x, double p) {
  Rng rng(3);
  const Training scope(rng);
  return dropout(x, p);
}

/// What each element is multiplied by, if it takes one draw and falls for those below p.
Array factors(const Shape& shape, double p) {
  Rng rng(3);
  return reference::build(shape, [&](const auto&) { return rng.uniform() < p ? 0 : 1 / (1 - p); });
}

Variant in_training(const Shape& shape, double p) {
  return {text(shape, " p ", p),
          {{.shape = shape}},
          [p](const List& x) { return drop(x[0], p); },
          [p](const Arrays& x) {
            return reference::each(x[0], factors(x[0].shape, p), [](double v, double factor) {
              return factor != 0 ? v * factor : 0;
            });
          }};
}

}  // namespace

std::vector<Row> dropout_rows() {
  const Variant in_evaluation = {"evaluation",
                                 {{.shape = {3, 4}}},
                                 [](const List& x) { return dropout(x[0], 0.5); },
                                 [](const Arrays& x) { return x[0]; }};
  return {
      {.declaration = "dropout(Tensor, double)",
       .name = "dropout",
       .variants = {in_training({5, 7}, 0.4), in_training({3}, 0), in_training({3}, 1),
                    in_training({1}, 0.1), in_training({0, 2}, 0.5), in_evaluation},
       .refusals = {
           refuses<ValueError>("p above 1", {"dropout", "1.5"}, [] { dropout(zeros({2}), 1.5); }),
           refuses<ValueError>("p below 0", {"dropout", "-0.5"}, [] { dropout(zeros({2}), -0.5); }),
           refuses<ValueError>("p not a number", {"dropout", "nan"}, [] {
             dropout(zeros({2}), std::numeric_limits<double>::quiet_NaN());
           })}}};
}

}  // namespace heed::op_table
