#include <heed/autograd/error.h>
#include <heed/layers/visitor.h>

#include <algorithm>
#include <iomanip>
#include <unordered_map>
#include <unordered_set>

namespace heed {

void Visitor::layer(const std::string&, const void*, const std::type_info&) {}

namespace detail {

void NamedParameters::tensor(const std::string& path, Tensor& value) {
  const bool taken = std::ranges::any_of(list, [&](const auto& p) { return p.name == path; });
  if (taken) throw ValueError(text("visit: two parameters are called \"", path, "\""));
  list.push_back({path, value});
}

void Replacement::tensor(const std::string&, Tensor& value) {
  const auto found =
      std::ranges::find(made_, value.storage(), [](const Made& m) { return m.from.storage(); });
  if (found != made_.end()) {
    value = found->to;
    return;
  }
  made_.push_back({value, make_(value)});
  value = made_.back().to;
}

Parameters each_storage_once(Parameters named) {
  std::unordered_set<const Storage*> seen;
  std::erase_if(named, [&](const NamedTensor& parameter) {
    return !seen.insert(parameter.value.storage().get()).second;
  });
  return named;
}

Tensor copy_of_parameter(const Tensor& x, DType dtype) {
  Tensor copy = x.detach();
  copy = copy.dtype() == dtype ? copy.clone() : copy.to(dtype);
  return copy.requires_grad_(x.requires_grad());
}

void require_as_many(const Parameters& parameters, const std::vector<Tensor>& values) {
  if (parameters.size() != values.size())
    throw ShapeError(text("with_parameters: the model has ", parameters.size(), " parameters, got ",
                          values.size(), " values"));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto& [name, parameter] = parameters[i];
    if (parameter.shape() != values[i].shape())
      throw ShapeError(text("with_parameters: ", name, " has shape ", parameter.shape(), ", got ",
                            values[i].shape()));
  }
}

std::string summary(const Parameters& named) {
  std::size_t width = 0;
  for (const NamedTensor& parameter : named) width = std::max(width, parameter.name.size());
  std::unordered_map<const Storage*, std::string> first_names;
  std::int64_t total = 0;
  std::ostringstream out;
  for (const auto& [name, value] : named) {
    out << std::left << std::setw(static_cast<int>(width)) << name << "  ";
    const auto [first, is_new] = first_names.try_emplace(value.storage().get(), name);
    if (!is_new) {
      out << "= " << first->second << '\n';
      continue;
    }
    out << std::setw(16) << text(value.shape()) << std::right << std::setw(12) << value.numel()
        << '\n';
    total += value.numel();
  }
  out << total << " parameters\n";
  return std::move(out).str();
}

}  // namespace detail
}  // namespace heed
