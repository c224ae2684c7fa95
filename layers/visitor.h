#pragma once

#include <heed/autograd/named_tensor.h>
#include <heed/autograd/tensor.h>

#include <concepts>
#include <cstdint>
#include <functional>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

namespace heed {

class Visitor;

/// A plain struct that shows its parameters and sub-layers: `void visit(Visitor& v) { v("weight",
/// weight); v("mlp", mlp); }`. There is no other registration.
template <class T>
concept Layer = requires(T& layer, Visitor& v) {
  layer.visit(v);
};

/// Someone who walks a model. A layer's `visit` hands it each member with its name; the visitor
/// joins the names to paths: "blocks.0.attention.w_q.weight".
///
/// Members may be tensors (undefined ones are passed over), layers, and optionals, vectors and
/// arrays of either; the elements of a vector are named "0", "1", ...
class Visitor {
 public:
  virtual ~Visitor() = default;

  template <class Member>
  void operator()(std::string_view name, Member& member) {
    const std::size_t length = path_.size();
    if (length > 0) path_ += '.';
    path_ += name;
    walk(member);
    path_.resize(length);
  }

  /// Visits what is at the present path, which is empty at first: where a walk starts.
  template <class Member>
  void walk(Member& member) {
    static_assert(!std::is_const_v<Member>, "visit must not be a const member function");
    if constexpr (std::same_as<Member, Tensor>) {
      if (member.defined()) tensor(path_, member);
    } else if constexpr (Layer<Member>) {
      layer(path_, &member, typeid(Member));
      member.visit(*this);
    } else if constexpr (requires { member.has_value(); }) {
      if (member.has_value()) walk(*member);
    } else {
      static_assert(std::ranges::range<Member> && !std::ranges::borrowed_range<Member>,
                    "a visitor takes tensors, layers with a visit(Visitor&), and optionals, "
                    "vectors and arrays of them");
      std::size_t i = 0;
      for (auto& element : member) (*this)(std::to_string(i++), element);
    }
  }

 protected:
  /// Called for every tensor.
  virtual void tensor(const std::string& path, Tensor& value) = 0;
  /// Called for every layer, before what is in it.
  virtual void layer(const std::string& path, const void* address, const std::type_info& type);

 private:
  std::string path_;
};

namespace detail {

/// Walks a model without changing it; visit has no const form, so that a layer writes it once.
template <class Model>
void look(const Model& model, Visitor& visitor) {
  visitor.walk(const_cast<Model&>(model));
}

class NamedParameters final : public Visitor {
 public:
  Parameters list;

 private:
  void tensor(const std::string& path, Tensor& value) override;
};

/// Puts `make(x)` in the place of every parameter x; tied ones stay tied.
class Replacement final : public Visitor {
 public:
  explicit Replacement(std::function<Tensor(const Tensor&)> make) : make_(std::move(make)) {}

 private:
  struct Made {
    Tensor from;  // kept, or its address could be given out again
    Tensor to;
  };
  void tensor(const std::string& path, Tensor& value) override;

  std::function<Tensor(const Tensor&)> make_;
  std::vector<Made> made_;
};

Parameters each_storage_once(Parameters named);
Tensor copy_of_parameter(const Tensor& x, DType dtype);
void require_as_many(const Parameters& parameters, const std::vector<Tensor>& values);
std::string summary(const Parameters& named);

}  // namespace detail

/// Every parameter under every name it has, in the order of `visit`: tied ones several times, as a
/// checkpoint needs them. Throws ValueError if two have one name.
template <class Model>
Parameters named_parameters(const Model& model) {
  detail::NamedParameters visitor;
  detail::look(model, visitor);
  return std::move(visitor.list);
}

/// Every parameter once, under its first name: what optimizers and clipping take. The tensors are
/// handles on the model's own.
template <class Model>
Parameters parameters(const Model& model) {
  return detail::each_storage_once(named_parameters(model));
}

/// Number of parameter elements, tied ones counted once.
template <class Model>
std::int64_t count(const Model& model) {
  std::int64_t total = 0;
  for (const NamedTensor& parameter : parameters(model)) total += parameter.value.numel();
  return total;
}

/// A line for each parameter (name, shape, number of elements or what it is tied to) and the total.
template <class Model>
std::string summary(const Model& model) {
  return detail::summary(named_parameters(model));
}

/// A model with parameters of its own, tied where those of `model` are. (A mere copy shares them.)
template <class Model>
Model clone(const Model& model) {
  Model copy = model;
  detail::Replacement visitor(
      [](const Tensor& x) { return detail::copy_of_parameter(x, x.dtype()); });
  visitor.walk(copy);
  return copy;
}

/// Gives the model parameters of type `dtype`, tied where they were. They are new tensors: make
/// optimizers, and copies that are to share them, afterwards.
template <class Model>
void to(Model& model, DType dtype) {
  detail::Replacement visitor(
      [dtype](const Tensor& x) { return detail::copy_of_parameter(x, dtype); });
  visitor.walk(model);
}

/// A model that computes with `values`, in the order of `parameters(model)`, in their place: the
/// model as a function of its parameters, for `gradcheck` and `hessian`. Throws ShapeError if
/// number or shapes do not fit.
template <class Model>
Model with_parameters(const Model& model, const std::vector<Tensor>& values) {
  detail::require_as_many(parameters(model), values);
  Model copy = model;
  detail::Replacement visitor([next = values.begin()](const Tensor&) mutable { return *next++; });
  visitor.walk(copy);
  return copy;
}

}  // namespace heed
