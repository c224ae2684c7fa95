#include <heed/autograd/autograd.h>

#include <algorithm>
#include <cmath>

#include "op_shapes.h"

namespace heed::op_table {
namespace {

const In kOffZero = {.low = -3, .high = 3, .kinks = {0}};
const In kWide = {.low = -6, .high = 6};

Row activation(std::string declaration, std::string name, int saved, const In& range,
               std::function<Tensor(const Tensor&)> call, std::function<double(double)> f) {
  return {.declaration = std::move(declaration),
          .name = std::move(name),
          .saved = saved,
          .variants = unary_variants("", range, std::move(call), std::move(f))};
}

double logistic(double v) { return 1 / (1 + std::exp(-v)); }
double gelu_erf(double v) { return v * 0.5 * std::erfc(-v / std::sqrt(2.)); }
double gelu_tanh(double v) {
  return 0.5 * v * (1 + std::tanh(std::sqrt(2 / std::acos(-1.)) * (v + 0.044715 * v * v * v)));
}
double positive_part(double v) { return v > 0 ? v : 0; }

/// The same number from far outside [-1, 1], where exp alone would overflow.
Variant far_out(std::function<Tensor(const Tensor&)> call, std::function<double(double)> f) {
  return {"far out",
          {{.shape = {40}, .choices = {-800, -90, -40, 40, 90, 800}}},
          [call](const List& x) { return call(x[0]); },
          [f](const Arrays& x) { return reference::each(x[0], f); }};
}

Row gelu_row() {
  const auto erf_form = [](const Tensor& x) { return gelu(x); };
  const auto tanh_form = [](const Tensor& x) { return gelu(x, Gelu::tanh); };
  return {.declaration = "gelu(Tensor, Gelu)",
          .name = "gelu",
          .saved = 1,
          .variants = joined(unary_variants("erf ", kWide, erf_form, gelu_erf),
                             unary_variants("tanh ", kWide, tanh_form, gelu_tanh))};
}

Row extreme(std::string name, Tensor (*call)(const Tensor&, const Tensor&),
            double (*f)(double, double)) {
  return {.declaration = name + "(Tensor, Tensor)",
          .name = name,
          .saved = 2,
          .variants = binary_variants({}, {}, call, f, true),
          .refusals = {refuses_shapes(name, {5, 2, 1}, {5, 2, 2, 3}, call)}};
}

Row where_row() {
  const auto variant = [](Shape mask_shape, Shape a, Shape b) -> Variant {
    std::vector<bool> pattern(static_cast<std::size_t>(mask_shape.numel()));
    for (std::size_t i = 0; i < pattern.size(); ++i) pattern[i] = i % 3 != 1;
    const Mask m = mask(pattern, mask_shape);
    return {text(mask_shape, a, b),
            {{.shape = a}, {.shape = b}},
            [m](const List& x) { return where(m, x[0], x[1]); },
            [m](const Arrays& x) {
              const Array choice{m.shape(), numbers(m).to_vector()};
              return reference::build(
                  reference::broadcast({m.shape(), x[0].shape, x[1].shape}),
                  [&](const auto& i) { return choice(i) != 0 ? x[0](i) : x[1](i); });
            }};
  };
  const Mask two = mask({true, false}, {2});
  return {
      .declaration = "where(Mask, Tensor, Tensor)",
      .name = "where",
      .saved = 0,
      .variants = {variant({2, 5}, {2, 5}, {2, 5}), variant({5}, {2, 1}, {}),
                   variant({3, 1}, {4}, {3, 4}), variant({}, {2}, {2}), variant({1}, {1}, {1}),
                   variant({2, 3}, {}, {3}), variant({0}, {1}, {0}), variant({2, 1}, {2, 0}, {1})},
      .refusals = {
          refuses_shapes("where", {3, 2}, {3, 4},
                         [two](const Tensor& a, const Tensor& b) { return where(two, a, b); }),
          refuses<ShapeError>("mask", {"where", "(2)", "(3)"},
                              [two] { where(two, zeros({3}, f64), zeros({3}, f64)); })}};
}

Row clamp_row() {
  const In range = {.low = -2, .high = 2, .kinks = {-0.5, 1.25}};
  Row row = activation(
      "clamp(Tensor, double, double)", "clamp", 1, range,
      [](const Tensor& x) { return clamp(x, -0.5, 1.25); },
      [](double v) { return std::min(std::max(v, -0.5), 1.25); });
  row.refusals = {
      refuses<ValueError>("low above high", {"clamp", "2", "1"}, [] { clamp(zeros({2}), 2, 1); })};
  return row;
}

}  // namespace

std::vector<Row> activation_rows() {
  std::vector<Row> rows = {
      activation("abs(Tensor)", "abs", 1, kOffZero, abs, [](double v) { return std::fabs(v); }),
      activation("tanh(Tensor)", "tanh", 1, kWide, tanh, [](double v) { return std::tanh(v); }),
      activation("sigmoid(Tensor)", "sigmoid", 1, kWide, sigmoid, logistic),
      activation("relu(Tensor)", "relu", 1, kOffZero, relu, positive_part),
      activation(
          "leaky_relu(Tensor, double)", "leaky_relu", 1, kOffZero,
          [](const Tensor& x) { return leaky_relu(x, 0.2); },
          [](double v) { return v > 0 ? v : 0.2 * v; }),
      activation(
          "elu(Tensor, double)", "elu", 1, kOffZero, [](const Tensor& x) { return elu(x, 1.5); },
          [](double v) { return v > 0 ? v : 1.5 * (std::exp(v) - 1); }),
      gelu_row(),
      activation("silu(Tensor)", "silu", 1, kWide, silu, [](double v) { return v * logistic(v); }),
      activation("softplus(Tensor)", "softplus", 1, kWide, softplus,
                 [](double v) { return std::log(1 + std::exp(v)); }),
      extreme("maximum", maximum, [](double a, double b) { return a > b ? a : b; }),
      extreme("minimum", minimum, [](double a, double b) { return a < b ? a : b; }),
      clamp_row(),
      where_row(),
  };
  const auto soft = [](double v) { return v > 30 ? v : std::log1p(std::exp(v)); };
  for (Row& row : rows) {
    if (row.name == "tanh")
      row.variants.push_back(far_out(tanh, [](double v) { return std::tanh(v); }));
    if (row.name == "sigmoid") row.variants.push_back(far_out(sigmoid, logistic));
    if (row.name == "silu")
      row.variants.push_back(far_out(silu, [](double v) { return v * logistic(v); }));
    if (row.name == "softplus") row.variants.push_back(far_out(softplus, soft));
    if (row.name == "gelu")
      for (const Gelu form : {Gelu::erf, Gelu::tanh})
        row.variants.push_back(
            far_out([form](const Tensor& x) { return gelu(x, form); }, positive_part));
    if (row.name == "elu")
      row.variants.push_back(far_out([](const Tensor& x) { return elu(x, 1.5); },
                                     [](double v) { return v > 0 ? v : -1.5; }));
  }
  return rows;
}

}  // namespace heed::op_table
