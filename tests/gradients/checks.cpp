#include "checks.h"

#include <heed/autograd/engine.h>
#include <heed/autograd/error.h>
#include <heed/autograd/rng.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <iterator>
#include <utility>

namespace heed::checks {
namespace {

/// Whether the kernel of a fused op and the graph of what it is composed of give the same gradient.
GradcheckResult compare_paths(const op_table::Variant& variant, op_table::List x,
                              GradcheckResult result, std::uint64_t seed) {
  for (Tensor& input : x) input.requires_grad_();
  const Tensor y = variant.call(x);
  Rng rng(seed);
  const Tensor cotangent = normal(y.shape(), rng, 0, 1, f64);
  const op_table::List kernel = grad(y, x, {.retain_graph = true, .seed = cotangent});
  const op_table::List graph = grad(y, x, {.create_graph = true, .seed = cotangent});
  for (std::size_t i = 0; i < x.size() && result; ++i) {
    const std::vector<double> a = kernel[i].to_vector(), b = graph[i].to_vector();
    for (std::size_t e = 0; e < a.size() && result; ++e)
      if (!(a[e] == b[e] || std::abs(a[e] - b[e]) <= 1e-10 * std::max(1., std::abs(b[e])))) {
        result.ok = false;
        result.text = text("the kernel's gradient is not that of the composed form: input ", i,
                           " of shape ", x[i].shape(), ", element ", e, ": ", a[e], " and ", b[e]);
      }
  }
  return result;
}

Subject::Case op_case(const op_table::Row& row, const op_table::Variant& variant) {
  return {row.declaration + (variant.label.empty() ? "" : ", " + variant.label),
          [variant](const GradcheckOptions& options) {
            const op_table::List x = op_table::draw(variant, f64, options.seed + 7);
            const GradcheckResult result = gradcheck(variant.call, x, options);
            return result ? compare_paths(variant, x, result, options.seed) : result;
          }};
}

}  // namespace

std::vector<Subject> op_subjects(const std::vector<op_table::Row>& rows) {
  std::vector<Subject> result;
  for (const op_table::Family& family : op_table::families())
    for (const op_table::About& about : family.ops) {
      Subject subject = {about.op, family.name, {}};
      bool has_row = false;
      for (const op_table::Row& row : rows) {
        if (row.about.op != about.op) continue;
        has_row = true;
        if (row.order > 0)
          for (const op_table::Variant& variant : row.variants)
            subject.cases.push_back(op_case(row, variant));
      }
      if (has_row) result.push_back(std::move(subject));
    }
  return result;
}

std::vector<Subject> layer_subjects(const std::vector<layer_table::Row>& rows) {
  std::vector<Subject> result;
  for (const layer_table::Row& row : rows) {
    result.push_back({row.layer, "layers", row.variants});
    for (Subject::Case& each : result.back().cases)
      each.label = row.layer + (each.label.empty() ? "" : ", " + each.label);
  }
  return result;
}

std::vector<Subject> subjects() {
  std::vector<Subject> result = op_subjects(op_table::rows());
  std::ranges::move(layer_subjects(layer_table::rows()), std::back_inserter(result));
  return result;
}

Report check(const Subject& subject, int order, std::uint64_t seed) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  Report report;
  for (const Subject::Case& each : subject.cases) {
    if (!report.failure.empty()) break;
    try {
      const GradcheckResult found = each.check({.order = order, .seed = seed});
      report.elements += found.compared;
      report.kinks += found.kinks;
      report.relative = std::max(report.relative, found.relative);
      if (!found) report.failure = each.label + ": " + found.message();
    } catch (const std::exception& error) {
      report.failure = each.label + ": " + error.what();
    }
  }
  report.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return report;
}

}  // namespace heed::checks
