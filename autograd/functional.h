#pragma once

#include <heed/autograd/tensor.h>

#include <functional>
#include <utility>
#include <vector>

/// Derivatives of functions, after PyTorch's torch.autograd.functional. A function maps one tensor
/// to one, or a list of tensors to one; what is given for x is not changed, and its gradient is not
/// touched. A list for x gives a list of results. x need not require a gradient. All throw
/// GraphError if x or f(x) is undefined.
///
/// With `create_graph` the results have graphs of their own, back to whatever of x and of what f
/// uses requires a gradient; else they are constants.
namespace heed {

struct FunctionalOptions {
  bool create_graph = false;
};

/// The value of a function and a product with its derivative.
template <class T>
struct ValueAndProduct {
  Tensor value;
  T product;
};

namespace detail {
using ListFunction = std::function<Tensor(const std::vector<Tensor>&)>;
std::vector<Tensor> jacobian(const ListFunction& f, const std::vector<Tensor>& xs,
                             FunctionalOptions options);
std::vector<std::vector<Tensor>> hessian(const ListFunction& f, const std::vector<Tensor>& xs,
                                         FunctionalOptions options);
ValueAndProduct<std::vector<Tensor>> vjp(const ListFunction& f, const std::vector<Tensor>& xs,
                                         const Tensor& v, FunctionalOptions options);
ValueAndProduct<std::vector<Tensor>> hvp(const ListFunction& f, const std::vector<Tensor>& xs,
                                         const std::vector<Tensor>& v, FunctionalOptions options);

/// f(x) as a function of the list {x}.
template <class F>
ListFunction of_first(F& f) {
  return [&f](const std::vector<Tensor>& xs) -> Tensor { return f(xs.front()); };
}
}  // namespace detail

/// J[i..., j...] = ∂f(x)[i...] / ∂x[j...], of shape f(x).shape + x.shape; zeros where f does not
/// depend on x. One sweep for each element of f(x). Throws ShapeError if that is more axes than a
/// tensor has.
template <class F>
Tensor jacobian(F&& f, const Tensor& x, FunctionalOptions options = {}) {
  return detail::jacobian(detail::of_first(f), {x}, options).front();
}
/// The same for each of `xs`.
template <class F>
std::vector<Tensor> jacobian(F&& f, const std::vector<Tensor>& xs, FunctionalOptions options = {}) {
  return detail::jacobian(std::ref(f), xs, options);
}

/// H[i..., j...] = ∂²f(x) / ∂x[i...] ∂x[j...], of shape x.shape + x.shape. Throws ShapeError unless
/// f(x) has exactly one element. One sweep for the gradient and one for each of its elements.
template <class F>
Tensor hessian(F&& f, const Tensor& x, FunctionalOptions options = {}) {
  return detail::hessian(detail::of_first(f), {x}, options).front().front();
}
/// The blocks H[a][b], of shape xs[a].shape + xs[b].shape.
template <class F>
std::vector<std::vector<Tensor>> hessian(F&& f, const std::vector<Tensor>& xs,
                                         FunctionalOptions options = {}) {
  return detail::hessian(std::ref(f), xs, options);
}

/// {f(x), vᵀJ}: a gradient of x's shape, for v of f(x)'s shape, which may be left out if f(x) has
/// one element. One sweep. Throws ShapeError and DTypeError if v does not fit, GraphError if it is
/// needed and undefined.
template <class F>
ValueAndProduct<Tensor> vjp(F&& f, const Tensor& x, const Tensor& v = {},
                            FunctionalOptions options = {}) {
  auto result = detail::vjp(detail::of_first(f), {x}, v, options);
  return {std::move(result.value), std::move(result.product.front())};
}
/// The same for each of `xs`.
template <class F>
ValueAndProduct<std::vector<Tensor>> vjp(F&& f, const std::vector<Tensor>& xs, const Tensor& v = {},
                                         FunctionalOptions options = {}) {
  return detail::vjp(std::ref(f), xs, v, options);
}

/// {f(x), H·v}: the derivative along v of f's gradient, of x's shape, by a second sweep through the
/// first (Pearlmutter, "Fast exact multiplication by the Hessian", 1994). v has x's shape. Throws
/// ShapeError unless f(x) has exactly one element and v fits, DTypeError for another type.
template <class F>
ValueAndProduct<Tensor> hvp(F&& f, const Tensor& x, const Tensor& v,
                            FunctionalOptions options = {}) {
  auto result = detail::hvp(detail::of_first(f), {x}, {v}, options);
  return {std::move(result.value), std::move(result.product.front())};
}
/// (H·v)[a] = Σ_b H[a][b]·v[b], with a v for each of `xs`.
template <class F>
ValueAndProduct<std::vector<Tensor>> hvp(F&& f, const std::vector<Tensor>& xs,
                                         const std::vector<Tensor>& v,
                                         FunctionalOptions options = {}) {
  return detail::hvp(std::ref(f), xs, v, options);
}

}  // namespace heed
