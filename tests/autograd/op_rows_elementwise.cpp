#include <heed/autograd/autograd.h>

#include <cmath>

#include "op_shapes.h"

namespace heed::op_table {
namespace {

using Unary = Tensor (*)(const Tensor&);
using Binary = Tensor (*)(const Tensor&, const Tensor&);
using WithNumber = Tensor (*)(const Tensor&, double);
using NumberWith = Tensor (*)(double, const Tensor&);

const In kAny = {};
const In kPositive = {.low = 0.2, .high = 3};
const In kNonZero = {.low = -3, .high = 3, .kinks = {0}, .margin = 0.3};

Row unary(std::string name, int saved, Unary call, double (*f)(double), const In& range) {
  return {.declaration = name + "(Tensor)",
          .name = name,
          .saved = saved,
          .variants = unary_variants("", range, call, f)};
}

Row binary(std::string declaration, std::string name, int saved, Binary call,
           std::function<double(double, double)> f, const In& a, const In& b) {
  return {.declaration = std::move(declaration),
          .name = name,
          .saved = saved,
          .variants = binary_variants(a, b, call, std::move(f)),
          .refusals = {refuses_shapes(name, {5, 2, 1}, {5, 2, 2, 3}, call),
                       refuses_shapes(name, {2, 3}, {2}, call)}};
}

Row with_number(std::string declaration, std::string name, int saved, WithNumber call,
                double (*f)(double, double)) {
  return {.declaration = std::move(declaration),
          .name = std::move(name),
          .saved = saved,
          .variants = unary_variants(
              "", kAny, [call](const Tensor& x) { return call(x, -1.7); },
              [f](double v) { return f(v, -1.7); })};
}

Row number_with(std::string declaration, std::string name, int saved, NumberWith call,
                double (*f)(double, double)) {
  return {.declaration = std::move(declaration),
          .name = std::move(name),
          .saved = saved,
          .variants = unary_variants(
              "", kNonZero, [call](const Tensor& x) { return call(-1.7, x); },
              [f](double v) { return f(-1.7, v); })};
}

double plus(double a, double b) { return a + b; }
double minus(double a, double b) { return a - b; }
double times(double a, double b) { return a * b; }
double over(double a, double b) { return a / b; }
double negative(double v) { return -v; }
double one_over_root(double v) { return 1 / std::sqrt(v); }
double squared(double v) { return v * v; }

std::vector<Variant> pow_number_variants() {
  std::vector<Variant> result;
  const auto add = [&](double exponent, const In& range) {
    result = joined(std::move(result), unary_variants(
                                           text("exponent ", exponent, ' '), range,
                                           [=](const Tensor& x) { return pow(x, exponent); },
                                           [=](double v) { return std::pow(v, exponent); }));
  };
  add(2.5, kPositive);
  add(-0.5, kPositive);
  for (const double whole : {0, 1, 2, 3, 4}) add(whole, kAny);
  add(-2, kNonZero);
  return result;
}

}  // namespace

std::vector<Row> elementwise_rows() {
  return {
      binary("operator+(Tensor, Tensor)", "add", 0, operator+, plus, kAny, kAny),
      with_number("operator+(Tensor, double)", "add_number", 0, operator+, plus),
      number_with("operator+(double, Tensor)", "add_number", 0, operator+, plus),
      binary("operator-(Tensor, Tensor)", "subtract", 0, operator-, minus, kAny, kAny),
      with_number("operator-(Tensor, double)", "add_number", 0, operator-, minus),
      number_with("operator-(double, Tensor)", "add_number", 0, operator-, minus),
      binary("operator*(Tensor, Tensor)", "multiply", 2, operator*, times, kAny, kAny),
      with_number("operator*(Tensor, double)", "multiply_number", 0, operator*, times),
      number_with("operator*(double, Tensor)", "multiply_number", 0, operator*, times),
      binary("operator/(Tensor, Tensor)", "divide", 2, operator/, over, kAny, kNonZero),
      with_number("operator/(Tensor, double)", "divide_by_number", 0, operator/, over),
      number_with("operator/(double, Tensor)", "divide_number", 1, operator/, over),
      unary("operator-", 0, static_cast<Unary>(operator-), negative, kAny),
      unary("neg", 0, neg, negative, kAny),
      unary("exp", 1, exp, std::exp, kAny),
      unary("log", 1, log, std::log, kPositive),
      unary("log1p", 1, log1p, std::log1p, kPositive),
      unary("sqrt", 1, sqrt, std::sqrt, kPositive),
      unary("rsqrt", 1, rsqrt, one_over_root, kPositive),
      unary("square", 1, square, squared, kAny),
      unary("sin", 1, sin, std::sin, kAny),
      unary("cos", 1, cos, std::cos, kAny),
      unary("erf", 1, erf, std::erf, kAny),
      {.declaration = "pow(Tensor, double)",
       .name = "pow_number",
       .saved = 1,
       .variants = pow_number_variants()},
      binary(
          "pow(Tensor, Tensor)", "pow", 3, static_cast<Binary>(pow),
          [](double x, double y) { return std::pow(x, y); }, kPositive, kAny),
  };
}

}  // namespace heed::op_table
