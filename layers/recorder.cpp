#include <cxxabi.h>
#include <heed/autograd/error.h>
#include <heed/layers/recorder.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace heed {
namespace {

std::string readable(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), &std::free);
  return status == 0 ? name.get() : type.name();
}

std::string joined(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list;
}

}  // namespace

void Recorder::Paths::layer(const std::string& path, const void* address,
                            const std::type_info& type) {
  recorder_.paths_.try_emplace({address, type}, path);
}

Recorder::~Recorder() { end(); }

Tensor Recorder::at(std::string_view name) const {
  const auto found = std::ranges::find(records_, name, &NamedTensor::name);
  if (found != records_.end()) return found->value;
  if (records_.empty())
    throw ValueError(text("recorder: no \"", name, "\", nothing was recorded yet; run the model"));
  throw ValueError(text("recorder: no \"", name, "\" was recorded, only ", joined(names())));
}

std::vector<std::string> Recorder::names() const {
  std::vector<std::string> names;
  for (const NamedTensor& record : records_) names.push_back(record.name);
  return names;
}

void Recorder::replace(std::string name, Intervention f) {
  const std::size_t dot = name.rfind('.');
  const std::string path = dot == std::string::npos ? "" : name.substr(0, dot);
  std::vector<std::string> known;
  for (const auto& [key, layer] : paths_) known.push_back(layer);
  std::ranges::sort(known);
  if (!std::ranges::binary_search(known, path))
    throw ValueError(text("recorder: cannot replace \"", name, "\", the model has no layer \"",
                          path, "\", only ", joined(known)));
  interventions_.insert_or_assign(std::move(name), std::move(f));
}

bool Recorder::knows(const void* address, const std::type_info& type) const {
  return paths_.contains({address, type});
}

std::string Recorder::full_name(const void* address, const std::type_info& type,
                                std::string_view name) const {
  const auto found = paths_.find({address, type});
  if (found == paths_.end())
    throw GraphError(text("observe: a ", readable(type), " shows \"", name,
                          "\" while a Recorder is alive that was made for another model; a copy is "
                          "another model: make the recorder for the one that runs"));
  return found->second.empty() ? std::string(name) : text(found->second, '.', name);
}

bool Recorder::wants(const void* address, const std::type_info& type, std::string_view name) {
  return !outer() || knows(address, type) || outer()->wants(address, type, name);
}

bool Recorder::replaces(const void* address, const std::type_info& type, std::string_view name) {
  if (outer() && !knows(address, type)) return outer()->replaces(address, type, name);
  return interventions_.contains(full_name(address, type, name));
}

Tensor Recorder::see(const void* address, const std::type_info& type, std::string_view name,
                     const Tensor& value) {
  if (outer() && !knows(address, type)) return outer()->see(address, type, name, value);
  std::string full = full_name(address, type, name);

  Tensor seen = value;
  if (const auto found = interventions_.find(full); found != interventions_.end()) {
    seen = found->second(value);
    if (seen.shape() != value.shape())
      throw ShapeError(text("recorder: \"", full, "\" has shape ", value.shape(),
                            ", its replacement ", seen.shape()));
    if (seen.dtype() != value.dtype())
      throw DTypeError(
          text("recorder: \"", full, "\" is ", value.dtype(), ", its replacement ", seen.dtype()));
  }

  const auto known = std::ranges::find(records_, full, &NamedTensor::name);
  if (known == records_.end()) {
    records_.push_back({std::move(full), seen});
  } else {
    known->value = seen;
  }
  return seen;
}

}  // namespace heed
