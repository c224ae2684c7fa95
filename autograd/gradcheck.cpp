#include <heed/autograd/engine.h>
#include <heed/autograd/error.h>
#include <heed/autograd/grad_mode.h>
#include <heed/autograd/gradcheck.h>
#include <heed/autograd/rng.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <sstream>
#include <utility>

namespace heed {
namespace {

using List = std::vector<Tensor>;

std::string place(const std::string& name, const Shape& shape, std::int64_t element) {
  return text(name, " of shape ", shape, ", element ", element, " at ",
              unravel_index(element, shape));
}

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

/// Difference quotients of one element.
struct Slopes {
  double left, right, central;
  double gap() const { return std::abs(right - left); }
};

/// Σ (high - low)·directions. Outputs are subtracted before they are summed, so that the large ones
/// do not drown the small ones.
double rise(const std::vector<std::vector<double>>& high,
            const std::vector<std::vector<double>>& low,
            const std::vector<std::vector<double>>& directions) {
  double sum = 0;
  for (std::size_t k = 0; k < high.size(); ++k)
    for (std::size_t i = 0; i < high[k].size(); ++i)
      if (high[k][i] != low[k][i]) sum += (high[k][i] - low[k][i]) * directions[k][i];
  return sum;
}

/// Input and element.
using Kinks = std::set<std::pair<std::size_t, std::size_t>>;

/// The two ways to the gradients of Σ f(inputs)·directions.
class Comparison {
 public:
  Comparison(const Function& f, const List& inputs, Rng& rng, const GradcheckOptions& options)
      : f_(f), inputs_(inputs), options_(options) {
    const List outputs = f(inputs, true);
    const List directions = random_like(outputs, rng);
    outputs_ = values(outputs);
    directions_ = values(directions);
    if (!same_values(outputs, f(inputs, true)))
      refusal_ =
          "the function gives other values for the same inputs; make its generator anew in each "
          "call";
    else if (defined(inputs).empty())
      refusal_ = "there is nothing to check: no input is given";
    else
      gradients_ = gradients(outputs, directions, defined(inputs));
  }

  /// Compares every element of every given input; messages call the inputs by `names`. Where the
  /// function has a kink is added to `kinks` or, for its gradient, known: there it may jump.
  void run(const std::vector<std::string>& names, Kinks& kinks, GradcheckResult& result) const {
    result.checked = result.wrong = 0;
    result.worst = -1;
    result.text = refusal_;
    auto gradient = gradients_.begin();
    for (std::size_t i = 0; i < inputs_.size() && refusal_.empty(); ++i) {
      if (!inputs_[i].defined()) continue;
      for (std::size_t e = 0; e < gradient->size(); ++e)
        compare(i, e, (*gradient)[e], names[i], kinks, result);
      ++gradient;
    }
    result.compared += result.checked;
    result.worst = std::max(result.worst, 0.);
    if (refusal_.empty() && result.checked == 0 && result.kinks > 0)
      result.text =
          heed::text("nothing could be compared, every element is at a kink: ", result.kink);
    result.ok = result.wrong == 0 && result.text.empty();
  }

 private:
  Slopes slopes(Tensor x, std::size_t element, double h) const {
    const double at = x.data<double>()[element];
    const auto outputs_at = [&](double value) {
      x.mutate<double>()[element] = value;
      return values(f_(inputs_, false));
    };
    const auto high = outputs_at(at + h), low = outputs_at(at - h);
    x.mutate<double>()[element] = at;
    const double above = (at + h) - at, below = at - (at - h);
    return {.left = rise(outputs_, low, directions_) / below,
            .right = rise(high, outputs_, directions_) / above,
            .central = rise(high, low, directions_) / (above + below)};
  }

  double tolerance(double a, double b) const {
    return options_.atol + options_.rtol * std::max(std::abs(a), std::abs(b));
  }

  bool apart(const Slopes& s) const { return s.gap() > tolerance(s.left, s.right); }

  /// Whether left and right slope stay apart when the step is 64 times smaller, where those of a
  /// smooth function come together as much, and those of a jump, or of nothing but rounding, move
  /// apart as much.
  bool is_kink(const Slopes& wide, const Slopes& narrow, bool may_jump) const {
    return apart(wide) && apart(narrow) && narrow.gap() > wide.gap() / 8 &&
           (may_jump || narrow.gap() < wide.gap() * 8);
  }

  bool is_between(double slope, const Slopes& s) const {
    const double slack = tolerance(s.left, s.right);
    return slope >= std::min(s.left, s.right) - slack && slope <= std::max(s.left, s.right) + slack;
  }

  void compare(std::size_t input, std::size_t element, double analytic, const std::string& name,
               Kinks& kinks, GradcheckResult& result) const {
    const Tensor& x = inputs_[input];
    const double h =
        options_.eps > 0 ? options_.eps : 1e-6 * std::max(1., std::abs(x.data<double>()[element]));
    const Slopes wide = slopes(x, element, h);
    const double numeric = wide.central;
    const double off = analytic == numeric ? 0 : std::abs(analytic - numeric);
    double error = off / tolerance(analytic, numeric);
    if (std::isnan(error)) error = std::numeric_limits<double>::infinity();
    if (apart(wide)) {
      const Slopes narrow = slopes(x, element, h / 64);
      const bool second = result.order == 2;
      const bool kink = is_kink(wide, narrow, second && kinks.contains({input, element}));
      if (kink && !second) kinks.insert({input, element});
      if (error > 1 && kink && is_between(analytic, wide) && is_between(analytic, narrow)) {
        if (result.kinks++ == 0)
          result.kink = place(name, x.shape(), static_cast<std::int64_t>(element));
        return;
      }
    }
    ++result.checked;
    if (error > 1) ++result.wrong;
    const double relative = off / std::max({1., std::abs(analytic), std::abs(numeric)});
    if (!(relative <= result.relative)) result.relative = relative;
    if (error <= result.worst) return;
    result.worst = error;
    result.input = input;
    result.name = name;
    result.shape = x.shape();
    result.element = static_cast<std::int64_t>(element);
    result.analytic = analytic;
    result.numeric = numeric;
  }

  const Function& f_;
  const List& inputs_;
  const GradcheckOptions& options_;
  std::vector<std::vector<double>> outputs_, directions_, gradients_;
  std::string refusal_;
};

}  // namespace

std::string GradcheckResult::message() const {
  if (!text.empty()) return heed::text("gradcheck: ", text);
  std::ostringstream out;
  out.precision(10);
  out << "gradcheck: order " << order;
  if (ok)
    out << " agrees in " << checked << " elements";
  else
    out << " is wrong in " << wrong << " of " << checked << " elements";
  if (checked > 0)
    out << "; worst is " << place(name, shape, element) << ": analytic " << analytic << ", numeric "
        << numeric << ", " << worst << " times the tolerance";
  if (kinks > 0)
    out << "; " << kinks << (kinks == 1 ? " kink" : " kinks") << " not compared: " << kink;
  return std::move(out).str();
}

GradcheckResult detail::gradcheck(const std::function<Tensor(const List&)>& f, const List& inputs,
                                  const std::vector<std::string>& names, GradcheckOptions options) {
  if (options.order != 1 && options.order != 2)
    throw ValueError(text("gradcheck: order ", options.order, "; it is 1 or 2"));
  for (const auto& [name, value] : {std::pair("eps", options.eps), std::pair("rtol", options.rtol),
                                    std::pair("atol", options.atol)})
    if (!(value >= 0 && std::isfinite(value)))
      throw ValueError(
          text("gradcheck: ", name, " = ", value, " is not a finite number from 0 on"));
  for (std::size_t i = 0; i < inputs.size(); ++i) require_f64(names[i], inputs[i]);

  const GradMode recording(true);
  Rng rng(options.seed);
  GradcheckResult result;
  result.inputs = inputs.size();

  const List xs = leaves(inputs);
  const Function value = [&](const List& x, bool) { return List{f(x)}; };
  const List outputs = value(xs, true);
  if (!outputs[0].defined())
    throw GraphError("gradcheck: the function returned an undefined tensor");
  require_f64("the output", outputs[0]);
  Kinks kinks;
  Comparison(value, xs, rng, options).run(names, kinks, result);
  if (!result.ok || options.order == 1) return result;

  // The gradient, as a function of the inputs and the cotangent.
  const Function gradient = [&](const List& x, bool graph) {
    const List before(x.begin(), x.end() - 1);
    return grad(f(before), defined(before), {.create_graph = graph, .seed = x.back()});
  };
  List with_cotangent = xs;
  with_cotangent.push_back(random_like(outputs, rng)[0].requires_grad_());
  std::vector<std::string> with_its_name = names;
  with_its_name.push_back("the cotangent");
  result.order = 2;
  Comparison(gradient, with_cotangent, rng, options).run(with_its_name, kinks, result);
  return result;
}

GradcheckResult gradcheck(const std::function<Tensor(const List&)>& f, const List& inputs,
                          GradcheckOptions options) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < inputs.size(); ++i) names.push_back(text("input ", i));
  return detail::gradcheck(f, inputs, names, options);
}

}  // namespace heed
