#pragma once

#include <heed/autograd/named_tensor.h>
#include <heed/autograd/node.h>
#include <heed/autograd/tensor.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heed {

/// While it is alive, every value and every gradient computed on this thread is looked at, and the
/// first that is not finite is refused with a NonFinite that names the op it came from and, given
/// the parameters of a model, the nearest of them in the graph: the one with the fewest ops
/// between.
///
/// A value is refused if it is NaN, or infinite although every input of the op is finite;
/// `masked_fill` with an infinity means it, as does any op with a `bool means_infinity() const`
/// that returns true. Of a gradient, every element has to be finite. Costs a pass over every
/// tensor.
class DetectAnomaly {
 public:
  explicit DetectAnomaly(Parameters names = {});
  ~DetectAnomaly();
  DetectAnomaly(const DetectAnomaly&) = delete;
  DetectAnomaly& operator=(const DetectAnomaly&) = delete;

  void look_at_value(std::string_view op, const Tensor& y, std::span<const Tensor* const> inputs,
                     bool infinity_is_meant) const;
  /// `g`, which has reached the output of `node`.
  void look_at_sum(const Node& node, const Tensor& g) const;
  /// `g`, which `node` passes on to its input `i`.
  void look_at_gradient(const Node& node, std::size_t i, const Tensor& g) const;

 private:
  std::string nearest(const std::vector<const Node*>& from) const;

  Parameters names_;
  DetectAnomaly* outer_;
};

namespace detail {

inline thread_local DetectAnomaly* anomaly = nullptr;  // the innermost one alive on this thread

template <class Op>
void look_at_value(const Op& op, const Tensor& y, std::span<const Tensor* const> inputs) {
  bool infinity_is_meant = false;
  if constexpr (requires { op.means_infinity(); }) infinity_is_meant = op.means_infinity();
  anomaly->look_at_value(Op::name, y, inputs, infinity_is_meant);
}

}  // namespace detail
}  // namespace heed
