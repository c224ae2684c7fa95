#include <heed/autograd/error.h>
#include <heed/autograd/grad_mode.h>
#include <heed/autograd/ops/shape.h>
#include <heed/train/checkpoint.h>
#include <heed/train/pytorch.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace heed {
namespace {

struct Renamed {
  std::string_view here, there;
};
constexpr std::array<Renamed, 6> kNames{{{"blocks.", "layers."},
                                         {".attention.w_q.", ".self_attn.in_proj_"},
                                         {".attention.w_o.", ".self_attn.out_proj."},
                                         {".mlp.up.", ".linear1."},
                                         {".mlp.down.", ".linear2."},
                                         {"final_norm.", "norm."}}};
// Queries, keys and values stand in one tensor there, with the name of the first.
constexpr std::array<std::string_view, 3> kJoined{".attention.w_q.", ".attention.w_k.",
                                                  ".attention.w_v."};

void replace(std::string& name, std::string_view from, std::string_view to) {
  const std::size_t at = name.find(from);
  if (at == 0 || (at != std::string::npos && from.front() == '.'))
    name.replace(at, from.size(), to);
}

std::string name_there(std::string name) {
  for (const auto& [here, there] : kNames) replace(name, here, there);
  return name;
}

/// Which of the three it is of; 3 if it is of none.
std::size_t place_in_joined(const std::string& name) {
  const auto is_in = [&](std::string_view part) { return name.find(part) != std::string::npos; };
  return static_cast<std::size_t>(std::ranges::find_if(kJoined, is_in) - kJoined.begin());
}

/// The same parameter of another of the three.
std::string sibling(std::string name, std::size_t from, std::size_t to) {
  replace(name, kJoined[from], kJoined[to]);
  return name;
}

const Tensor* find(const Parameters& all, std::string_view name) {
  const auto found = std::ranges::find(all, name, &NamedTensor::name);
  return found == all.end() ? nullptr : &found->value;
}

/// With the axes as they are on the other side: those of a Linear's weight change places.
Tensor turned(const std::string& name, const Tensor& x) {
  const bool linear = x.ndim() == 2 && !name.ends_with("embedding.weight");
  return linear ? transpose(x) : x.detach();
}

/// How many outputs queries, keys and values have, at the layer that `name` is of.
std::array<std::int64_t, 3> widths(const Parameters& named, const std::string& name) {
  const std::size_t at = place_in_joined(name);
  const std::string path = name.substr(0, name.find(kJoined[at]));
  std::array<std::int64_t, 3> found{};
  for (std::size_t i = 0; i < 3; ++i) {
    const Tensor* weight = find(named, path + std::string(kJoined[i]) + "weight");
    found[i] = weight ? weight->dim(1) : 0;
  }
  return found;
}

/// Queries, keys and values in one; `name` is of the queries.
Tensor joined(const Parameters& named, const std::string& name) {
  const std::array<std::int64_t, 3> width = widths(named, name);
  std::vector<Tensor> parts;
  for (std::size_t i = 0; i < 3; ++i) {
    const Tensor* x = find(named, sibling(name, 0, i));
    parts.push_back(x ? turned(name, *x) : zeros({width[i]}, find(named, name)->dtype()));
  }
  return concat(parts, 0);
}

/// Of `all`, which holds the three, the rows of number `i`.
Tensor part(const Tensor& all, const std::array<std::int64_t, 3>& width, std::size_t i,
            std::string_view origin, const std::string& name) {
  const std::int64_t rows = width[0] + width[1] + width[2];
  if (all.ndim() < 1 || all.dim(0) != rows)
    throw FileError(text(origin, " does not fit the model; ", name, " of shape ", all.shape(),
                         " should have ", rows, " rows"));
  const std::int64_t start = i == 0 ? 0 : i == 1 ? width[0] : width[0] + width[1];
  return slice(all, 0, start, start + width[i]);
}

bool is_zero(const Tensor& x) {
  return std::ranges::all_of(x.to_vector(), [](double value) { return value == 0; });
}

}  // namespace

Parameters to_pytorch(const Parameters& named) {
  const NoGrad quiet;
  Parameters there;
  for (const auto& [name, value] : named) {
    const std::size_t i = place_in_joined(name);
    if (i == 3)
      there.push_back({name_there(name), turned(name, value)});
    else if (i == 0)
      there.push_back({name_there(name), joined(named, name)});
  }
  return there;
}

void from_pytorch(const Parameters& tensors, const Parameters& named, bool keys_turn,
                  std::string_view origin) {
  const NoGrad quiet;
  Parameters here;
  std::set<std::string> used;
  for (const auto& [name, value] : named) {
    const std::size_t i = place_in_joined(name);
    const std::string there = name_there(i == 3 ? name : sibling(name, i, 0));
    const Tensor* found = find(tensors, there);
    if (!found) continue;
    used.insert(there);
    if (i == 3) {
      here.push_back({name, turned(name, *found)});
      continue;
    }
    const std::array<std::int64_t, 3> width = widths(named, name);
    here.push_back({name, turned(name, part(*found, width, i, origin, there))});
    const bool keys_have_none = i == 0 && !find(named, sibling(name, 0, 1));
    if (keys_turn && keys_have_none && !is_zero(part(*found, width, 1, origin, there)))
      throw FileError(text(origin, ": ", there,
                           " has a bias of the keys, and with rotary positions "
                           "heed's model has no place for it"));
  }
  for (const NamedTensor& tensor : tensors)
    if (!used.contains(tensor.name)) here.push_back(tensor);
  copy_parameters(here, named, origin);
}

}  // namespace heed
