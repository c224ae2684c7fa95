#include <heed/autograd/error.h>
#include <heed/train/checkpoint.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace heed {
namespace {

/// Each storage once, under its first name.
Parameters first_names(const Parameters& named) {
  Parameters firsts;
  for (const NamedTensor& parameter : named)
    if (std::ranges::find(firsts, parameter.value.storage(), [](const NamedTensor& known) {
          return known.value.storage();
        }) == firsts.end())
      firsts.push_back(parameter);
  return firsts;
}

/// What keeps the two apart, for people; empty if nothing does.
class Differences {
 public:
  void add(const std::string& kind, const std::string& what) { found_[kind].push_back(what); }

  std::string text() const {
    std::string all;
    for (const auto& [kind, names] : found_) {
      if (!all.empty()) all += "; ";
      all += kind + ": ";
      for (std::size_t i = 0; i < names.size(); ++i) all += (i ? ", " : "") + names[i];
    }
    return all;
  }

 private:
  std::map<std::string, std::vector<std::string>> found_;
};

std::string form_of(const Tensor& x) { return text(x.dtype(), " ", x.shape()); }

}  // namespace

void save_checkpoint(const std::filesystem::path& path, const Parameters& named,
                     Metadata metadata) {
  metadata["heed.linear"] = "in,out";
  write_safetensors(path, first_names(named), metadata);
}

Metadata load_checkpoint(const std::filesystem::path& path, const Parameters& named) {
  SafeTensors file = read_safetensors(path);
  copy_parameters(file.tensors, named, path.string());
  return std::move(file.metadata);
}

void copy_parameters(const Parameters& from, const Parameters& named, std::string_view origin) {
  std::map<std::string_view, const Tensor*> values;
  for (const NamedTensor& tensor : from) values.emplace(tensor.name, &tensor.value);

  Differences differences;
  std::vector<std::pair<const Tensor*, Tensor>> pairs;
  for (const auto& [name, value] : first_names(named)) {
    const auto found = values.extract(name);
    if (found.empty())
      differences.add("missing", name);
    else if (form_of(*found.mapped()) != form_of(value))
      differences.add("of another form",
                      text(name, " (", form_of(*found.mapped()), ", not ", form_of(value), ")"));
    else
      pairs.emplace_back(found.mapped(), value);
  }
  for (const auto& [name, value] : values) differences.add("unexpected", std::string(name));
  if (const std::string all = differences.text(); !all.empty())
    throw FileError(text(origin, " does not fit the model; ", all));

  for (auto& [value, parameter] : pairs)
    dispatch(parameter.dtype(), [&, &value = value, &parameter = parameter](auto t) {
      using T = decltype(t);
      std::ranges::copy(value->data<T>(), parameter.mutate<T>().begin());
    });
}

}  // namespace heed
