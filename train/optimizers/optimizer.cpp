#include <heed/autograd/error.h>
#include <heed/autograd/node.h>
#include <heed/train/optimizers/optimizer.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace heed {
namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

std::string name_of(const ParameterGroup& group, std::size_t index) {
  return group.pattern.empty() ? text("group ", index + 1)
                               : text("groups = \"", group.pattern, '"');
}

}  // namespace

bool decay_matrices(const NamedTensor& parameter) { return parameter.value.ndim() >= 2; }
bool decay_weights(const NamedTensor& parameter) {
  return decay_matrices(parameter) && parameter.name.find("embedding") == std::string::npos;
}
bool decay_all(const NamedTensor&) { return true; }

Optimizer::Optimizer(std::string_view name, Parameters parameters, const OptimizerOptions& options,
                     const std::vector<std::string>& kept)
    : Optimizer(name, std::move(parameters), options, [&](const NamedTensor&) { return kept; }) {}

Optimizer::Optimizer(std::string_view name, Parameters parameters, const OptimizerOptions& options,
                     const Kept& kept)
    : name_(name) {
  set_lr(options.lr);
  check_options(options);
  std::vector<bool> owns(options.groups.size());
  for (NamedTensor& parameter : parameters) {
    const Tensor& x = parameter.value;
    if (!x.requires_grad() || !x.node()->is_leaf())
      throw GraphError(text(name_, ": ", parameter.name, " collects no gradient, as it is ",
                            x.requires_grad() ? "the output of an op" : "a constant",
                            "; give it leaves, as requires_grad_() makes them"));
    const auto same = std::ranges::find(
        parameters_, x.storage(), [](const NamedTensor& known) { return known.value.storage(); });
    if (same != parameters_.end()) {
      if (same->value.node() == x.node()) continue;
      throw GraphError(text(name_, ": ", parameter.name, " and ", same->name,
                            " share their values but not their gradient; make one a copy of the "
                            "other's handle, or clone() it"));
    }
    Slot slot{.value = x,
              .decay = options.decays(parameter) ? options.weight_decay : 0,
              .steps = zeros({}, f64),
              .kept = kept(parameter),
              .moments = {}};
    const auto group = std::ranges::find_if(
        options.groups, [&](const ParameterGroup& g) { return g.holds(parameter); });
    if (group != options.groups.end()) {
      owns[static_cast<std::size_t>(group - options.groups.begin())] = true;
      slot.factor = group->lr;
      slot.decay = group->weight_decay.value_or(slot.decay);
    }
    for (std::size_t i = 0; i < slot.kept.size(); ++i)
      slot.moments.push_back(zeros(x.shape(), x.dtype()));
    slots_.push_back(std::move(slot));
    parameters_.push_back(std::move(parameter));
  }
  check_owners(options.groups, owns);
}

void Optimizer::check_options(const OptimizerOptions& options) const {
  check_range("weight_decay", options.weight_decay, 0, kNoLimit);
  if (!options.decays) throw ValueError(text(name_, ": decays is an empty function"));
  for (std::size_t i = 0; i < options.groups.size(); ++i) {
    const ParameterGroup& group = options.groups[i];
    check_range("lr of a group", group.lr, 0, kNoLimit);
    check_range("weight_decay of a group", group.weight_decay.value_or(0), 0, kNoLimit);
    if (!group.holds)
      throw ValueError(text(name_, ": the holds of ", name_of(group, i), " is an empty function"));
  }
}

void Optimizer::check_owners(const ParameterGroups& groups, const std::vector<bool>& owns) const {
  const auto idle = std::ranges::find(owns, false);
  if (idle == owns.end()) return;
  const auto i = static_cast<std::size_t>(idle - owns.begin());
  const std::string name = name_of(groups[i], i);
  if (std::ranges::any_of(parameters_, groups[i].holds))
    throw ValueError(text(name_, ": all that ", name, " holds belongs to groups before it"));
  throw ValueError(text(name_, ": ", name, " holds no parameter"));
}

void Optimizer::step() {
  for (Slot& slot : slots_) {
    const Tensor gradient = slot.value.grad();
    if (!gradient.defined()) continue;
    slot.steps.mutate<double>()[0] += 1;
    update(slot, gradient);
  }
}

void Optimizer::zero_grad() {
  for (Slot& slot : slots_) slot.value.clear_grad();
}

void Optimizer::set_lr(double lr) {
  check_range("lr", lr, 0, kNoLimit);
  lr_ = lr;
}

Parameters Optimizer::state() const {
  Parameters state;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const std::string& of = parameters_[i].name;
    state.push_back({of + ".steps", slots_[i].steps});
    for (std::size_t k = 0; k < slots_[i].kept.size(); ++k)
      state.push_back({of + "." + slots_[i].kept[k], slots_[i].moments[k]});
  }
  return state;
}

void Optimizer::check_range(std::string_view option, double value, double low, double high) const {
  if (!(value >= low && value < high))
    throw ValueError(text(name_, ": ", option, " = ", value, " is not in [", low, ", ", high, ")"));
}

}  // namespace heed
