#include <heed/autograd/engine.h>
#include <heed/autograd/error.h>
#include <heed/autograd/grad_mode.h>
#include <heed/autograd/gradcheck.h>
#include <heed/autograd/rng.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <utility>

namespace heed {
namespace {

using List = std::vector<Tensor>;

/// What is checked: from inputs to outputs, with a graph that reaches from one to the other if
/// `graph` is set.
using Function = std::function<List(const List&, bool graph)>;

List defined(const List& list) {
  List result;
  std::ranges::copy_if(list, std::back_inserter(result), &Tensor::defined);
  return result;
}

void require_f64(std::string_view what, const Tensor& x) {
  if (x.defined() && x.dtype() != f64)
    throw DTypeError(text("gradcheck: ", what, " of shape ", x.shape(), " is ", x.dtype(),
                          "; a step small enough for a difference to be a derivative is lost in "
                          "the rounding of singles, use to(f64)"));
}

/// Leaves of our own, with the same values.
List leaves(const List& inputs) {
  List result;
  for (const Tensor& x : inputs)
    result.push_back(x.defined() ? x.detach().clone().requires_grad_() : Tensor());
  return result;
}

List random_like(const List& list, Rng& rng) {
  List result;
  for (const Tensor& x : list) result.push_back(normal(x.shape(), rng, 0, 1, f64));
  return result;
}

std::vector<std::vector<double>> values(const List& list) {
  std::vector<std::vector<double>> result;
  for (const Tensor& x : list) result.push_back(x.to_vector());
  return result;
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

bool same_values(const List& a, const List& b) {
  return std::ranges::equal(values(a), values(b), [](const auto& x, const auto& y) {
    return std::ranges::equal(x, y, same);
  });
}

/// The gradient of Σ outputs·directions for each input. A sweep for each output, added up here: no
/// op under test takes part.
std::vector<std::vector<double>> gradients(const List& outputs, const List& directions,
                                           const List& inputs) {
  std::vector<std::vector<double>> sum;
  for (const Tensor& x : inputs) sum.emplace_back(static_cast<std::size_t>(x.numel()), 0.);
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const auto part =
        values(grad(outputs[k], inputs, {.retain_graph = true, .seed = directions[k]}));
    for (std::size_t i = 0; i < sum.size(); ++i)
      std::ranges::transform(sum[i], part[i], sum[i].begin(), std::plus());
  }
  return sum;
}

/// (f(x + h) - f(x - h))·directions / 2h for one element of x, which is put back. Outputs are
/// subtracted before they are summed, so that the large ones do not drown the small ones.
double difference(const Function& f, const List& inputs, Tensor x, std::size_t element, double eps,
                  const std::vector<std::vector<double>>& directions) {
  const double at = x.data<double>()[element];
  const double h = eps > 0 ? eps : 1e-6 * std::max(1., std::abs(at));
  const auto outputs_at = [&](double value) {
    x.mutate<double>()[element] = value;
    return values(f(inputs, false));
  };
  const auto high = outputs_at(at + h), low = outputs_at(at - h);
  x.mutate<double>()[element] = at;
  double sum = 0;
  for (std::size_t k = 0; k < high.size(); ++k)
    for (std::size_t i = 0; i < high[k].size(); ++i)
      if (high[k][i] != low[k][i]) sum += (high[k][i] - low[k][i]) * directions[k][i];
  return sum / ((at + h) - (at - h));
}

/// Compares every element of the gradient of `f` at `inputs`, some of which may be absent.
void compare(const Function& f, const List& inputs, Rng& rng, const GradcheckOptions& options,
             GradcheckResult& result) {
  const List outputs = f(inputs, true);
  if (!same_values(outputs, f(inputs, true))) {
    result.ok = false;
    result.text =
        "the function gives other values for the same inputs; make its generator anew in each call";
    return;
  }
  const List given = defined(inputs);
  if (given.empty()) {
    result.ok = false;
    result.text = "there is nothing to check: no input is given";
    return;
  }
  const List directions = random_like(outputs, rng);
  const auto direction_values = values(directions);
  const auto analytic = gradients(outputs, directions, given);
  result.checked = result.wrong = 0;
  result.worst = -1;
  for (std::size_t i = 0, k = 0; i < inputs.size(); ++i) {
    if (!inputs[i].defined()) continue;
    const std::vector<double>& gradient = analytic[k++];
    for (std::size_t e = 0; e < gradient.size(); ++e) {
      const double a = gradient[e];
      const double n = difference(f, inputs, inputs[i], e, options.eps, direction_values);
      const double tolerance = options.atol + options.rtol * std::max(std::abs(a), std::abs(n));
      double error = a == n ? 0 : std::abs(a - n) / tolerance;
      if (std::isnan(error)) error = std::numeric_limits<double>::infinity();
      ++result.checked;
      if (error > 1) ++result.wrong;
      if (error <= result.worst) continue;
      result.worst = error;
      result.input = i;
      result.shape = inputs[i].shape();
      result.element = static_cast<std::int64_t>(e);
      result.analytic = a;
      result.numeric = n;
    }
  }
  result.worst = std::max(result.worst, 0.);
  result.ok = result.wrong == 0;
}

/// The element's place along each axis.
Shape position(std::int64_t element, Shape shape) {
  for (std::size_t axis = shape.size(); axis-- > 0;)
    shape[axis] = std::exchange(element, element / shape[axis]) % shape[axis];
  return shape;
}

}  // namespace

std::string GradcheckResult::message() const {
  std::ostringstream out;
  out.precision(10);
  out << "gradcheck: ";
  if (!text.empty()) {
    out << text;
    return std::move(out).str();
  }
  if (ok)
    out << "order " << order << " agrees in " << checked << " elements";
  else
    out << "order " << order << " is wrong in " << wrong << " of " << checked << " elements";
  if (checked == 0) return std::move(out).str();
  out << "; worst is ";
  if (input == inputs)
    out << "the cotangent";
  else
    out << "input " << input;
  out << " of shape " << shape << ", element " << element << " at " << position(element, shape)
      << ": analytic " << analytic << ", numeric " << numeric << ", " << worst
      << " times the tolerance";
  return std::move(out).str();
}

GradcheckResult gradcheck(const std::function<Tensor(const List&)>& f, const List& inputs,
                          GradcheckOptions options) {
  if (options.order != 1 && options.order != 2)
    throw ValueError(text("gradcheck: order ", options.order, "; it is 1 or 2"));
  for (std::size_t i = 0; i < inputs.size(); ++i) require_f64(text("input ", i), inputs[i]);

  const GradMode recording(true);
  Rng rng(options.seed);
  GradcheckResult result;
  result.inputs = inputs.size();

  const List xs = leaves(inputs);
  const Function value = [&](const List& x, bool) { return List{f(x)}; };
  const List outputs = value(xs, true);
  require_f64("the output", outputs[0]);
  compare(value, xs, rng, options, result);
  if (!result.ok || options.order == 1) return result;

  // The gradient, as a function of the inputs and the cotangent.
  const Function gradient = [&](const List& x, bool graph) {
    const List before(x.begin(), x.end() - 1);
    return grad(f(before), defined(before), {.create_graph = graph, .seed = x.back()});
  };
  List with_cotangent = xs;
  with_cotangent.push_back(random_like(outputs, rng)[0].requires_grad_());
  result.order = 2;
  compare(gradient, with_cotangent, rng, options, result);
  return result;
}

}  // namespace heed
