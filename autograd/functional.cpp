#include <heed/autograd/apply.h>
#include <heed/autograd/engine.h>
#include <heed/autograd/error.h>
#include <heed/autograd/functional.h>
#include <heed/autograd/ops/arithmetic.h>
#include <heed/autograd/ops/reduce.h>
#include <heed/autograd/ops/shape.h>

#include <string_view>

namespace heed::detail {
namespace {

using List = std::vector<Tensor>;

/// What f is called with: tensors of its own, so that a gradient for them is the argument's and not
/// also that of the same tensor used inside of f.
List own(std::string_view op, const List& xs, bool create_graph) {
  List result;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    if (!xs[i].defined()) throw GraphError(text(op, ": input ", i, " is undefined"));
    result.push_back(create_graph && xs[i].requires_grad() ? alias(xs[i])
                                                           : xs[i].detach().requires_grad_());
  }
  return result;
}

/// f at its arguments.
Tensor value(std::string_view op, const ListFunction& f, const List& arguments) {
  Tensor y = f(arguments);
  if (!y.defined()) throw GraphError(text(op, ": f gives an undefined tensor"));
  return y;
}

void require_one_element(std::string_view op, const Tensor& y) {
  if (y.numel() != 1)
    throw ShapeError(text(op, ": f gives a tensor of shape ", y.shape(),
                          "; second derivatives are those of one number: reduce it to one element, "
                          "for instance with sum()"));
}

void require_like(std::string_view op, std::string_view what, const Tensor& v, const Tensor& x) {
  if (!v.defined()) throw GraphError(text(op, ": v is undefined; ", what, " is ", x.shape()));
  if (v.shape() != x.shape())
    throw ShapeError(text(op, ": v has shape ", v.shape(), ", ", what, ' ', x.shape()));
  if (v.dtype() != x.dtype())
    throw DTypeError(text(op, ": v is ", v.dtype(), ", ", what, ' ', x.dtype()));
}

Shape join(std::string_view op, const Shape& a, const Shape& b) {
  if (a.size() + b.size() > AxisList::kMaxRank)
    throw ShapeError(text(op, ": shapes ", a, " and ", b, " make more than ", AxisList::kMaxRank,
                          " axes; reshape to fewer"));
  Shape result = a;
  for (const std::int64_t length : b) result.push_back(length);
  return result;
}

/// ∂y[i...] / ∂x[j...] for each x, a row for each element of y.
List rows(std::string_view op, const Tensor& y, const List& xs, bool create_graph) {
  std::vector<List> found(xs.size());
  std::vector<Shape> shapes;
  for (const Tensor& x : xs) shapes.push_back(join(op, y.shape(), x.shape()));
  std::vector<double> unit(static_cast<std::size_t>(y.numel()));
  for (double& element : unit) {
    element = 1;
    const Tensor seed = tensor(unit, y.shape(), y.dtype());
    element = 0;
    const List row =
        grad(y, xs, {.create_graph = create_graph, .retain_graph = true, .seed = seed});
    for (std::size_t k = 0; k < xs.size(); ++k) found[k].push_back(row[k]);
  }
  List result;
  for (std::size_t k = 0; k < xs.size(); ++k)
    result.push_back(found[k].empty() ? zeros(shapes[k], xs[k].dtype())
                                      : reshape(stack(found[k]), shapes[k]));
  return result;
}

}  // namespace

List jacobian(const ListFunction& f, const List& xs, FunctionalOptions options) {
  const GradMode recording(true);
  const List arguments = own("jacobian", xs, options.create_graph);
  return rows("jacobian", value("jacobian", f, arguments), arguments, options.create_graph);
}

std::vector<List> hessian(const ListFunction& f, const List& xs, FunctionalOptions options) {
  const GradMode recording(true);
  const List arguments = own("hessian", xs, options.create_graph);
  const Tensor y = value("hessian", f, arguments);
  require_one_element("hessian", y);
  std::vector<List> result;
  for (const Tensor& gradient : grad(y, arguments, {.create_graph = true}))
    result.push_back(rows("hessian", gradient, arguments, options.create_graph));
  return result;
}

ValueAndProduct<List> vjp(const ListFunction& f, const List& xs, const Tensor& v,
                          FunctionalOptions options) {
  const GradMode recording(true);
  const List arguments = own("vjp", xs, options.create_graph);
  const Tensor y = value("vjp", f, arguments);
  if (v.defined() || y.numel() != 1) require_like("vjp", "f(x)", v, y);
  if (options.create_graph) return {y, grad(y, arguments, {.create_graph = true, .seed = v})};
  return {y.detach(), grad(y, arguments, {.seed = v.defined() ? v.detach() : v})};
}

ValueAndProduct<List> hvp(const ListFunction& f, const List& xs, const List& v,
                          FunctionalOptions options) {
  if (v.size() != xs.size())
    throw ShapeError(text("hvp: ", v.size(), " vectors for ", xs.size(), " inputs"));
  for (std::size_t i = 0; i < xs.size(); ++i)
    if (xs[i].defined()) require_like("hvp", text("input ", i), v[i], xs[i]);
  const GradMode recording(true);
  const List arguments = own("hvp", xs, options.create_graph);
  const Tensor y = value("hvp", f, arguments);
  require_one_element("hvp", y);
  const List gradients = grad(y, arguments, {.create_graph = true});
  Tensor slope = zeros({}, y.dtype());  // of f along v
  for (std::size_t i = 0; i < xs.size(); ++i)
    slope = slope + sum(gradients[i] * (options.create_graph ? v[i] : v[i].detach()));
  return {options.create_graph ? y : y.detach(),
          grad(slope, arguments, {.create_graph = options.create_graph})};
}

}  // namespace heed::detail
