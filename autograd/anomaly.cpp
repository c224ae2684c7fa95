#include <heed/autograd/anomaly.h>
#include <heed/autograd/error.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_set>

namespace heed {
namespace {

struct Found {
  std::int64_t element;
  double value;
};

template <class Bad>
std::optional<Found> find(const Tensor& x, Bad bad) {
  std::optional<Found> found;
  if (!x.defined()) return found;
  dispatch(x.dtype(), [&](auto t) {
    const auto values = x.data<decltype(t)>();
    const auto at = std::ranges::find_if(values, bad);
    if (at != values.end())
      found = {at - values.begin(), std::isnan(*at) ? std::nan("") : double(*at)};  // never -nan
  });
  return found;
}

const auto is_nan = [](auto v) { return std::isnan(v); };
const auto not_finite = [](auto v) { return !std::isfinite(v); };

std::string place(const Found& found, const Shape& shape) {
  return text("of shape ", shape, " is ", found.value, " at ", unravel_index(found.element, shape));
}

}  // namespace

DetectAnomaly::DetectAnomaly(Parameters names)
    : names_(std::move(names)), outer_(std::exchange(detail::anomaly, this)) {
  std::erase_if(names_, [](const NamedTensor& each) { return !each.value.defined(); });
}
DetectAnomaly::~DetectAnomaly() { detail::anomaly = outer_; }

/// "; the nearest parameter is ...", going through the graph from these nodes, level by level.
std::string DetectAnomaly::nearest(const std::vector<const Node*>& from) const {
  std::vector<const Node*> level = from, next;
  std::unordered_set<const Node*> seen;
  for (int ops = 0; !level.empty(); ++ops, level = std::exchange(next, {}))
    for (const Node* node : level) {
      if (!node || !seen.insert(node).second) continue;
      const auto named = std::ranges::find(
          names_, node, [](const NamedTensor& each) { return each.value.node().get(); });
      if (named != names_.end())
        return text("; the nearest parameter is ", named->name,
                    ops == 0 ? text("") : text(", ", ops, ops == 1 ? " op" : " ops", " away"));
      for (const Saved& input : node->inputs()) next.push_back(input.node().get());
    }
  return "";
}

void DetectAnomaly::look_at_value(std::string_view op, const Tensor& y,
                                  std::span<const Tensor* const> inputs,
                                  bool infinity_is_meant) const {
  std::vector<const Node*> from;
  for (const Tensor* input : inputs)
    from.push_back(input->defined() ? input->node().get() : nullptr);
  bool all_finite = true;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (const auto found = find(*inputs[i], is_nan))
      throw NonFinite(text(op, ": its input ", i, ' ', place(*found, inputs[i]->shape()),
                           ", and no op made it so", nearest({from[i]})));
    all_finite &= !find(*inputs[i], not_finite);
  }
  const bool strict = all_finite && !infinity_is_meant;
  if (const auto found = strict ? find(y, not_finite) : find(y, is_nan))
    throw NonFinite(text(op, ": its output ", place(*found, y.shape()), ", though ",
                         all_finite ? "every input is finite" : "no input is NaN", nearest(from)));
}

void DetectAnomaly::look_at_sum(const Node& node, const Tensor& g) const {
  if (const auto found = find(g, not_finite))
    throw NonFinite(text(node.name(), ": the gradient that reaches its output ",
                         place(*found, g.shape()), ": a seed, or a sum of finite gradients",
                         nearest({&node})));
}

void DetectAnomaly::look_at_gradient(const Node& node, std::size_t i, const Tensor& g) const {
  if (const auto found = find(g, not_finite))
    throw NonFinite(text(node.name(), ": the gradient of its input ", i, ' ',
                         place(*found, g.shape()), ", though that of its output is finite",
                         nearest({node.inputs()[i].node().get()})));
}

}  // namespace heed
