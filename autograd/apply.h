#pragma once

#include <heed/autograd/anomaly.h>
#include <heed/autograd/grad_mode.h>
#include <heed/autograd/node.h>
#include <heed/autograd/profile.h>
#include <heed/autograd/tensor.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <new>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace heed {

/// What an op keeps for its backward: flags.
enum class Saves : unsigned { none = 0, inputs = 1, output = 2 };
constexpr Saves operator|(Saves a, Saves b) {
  return static_cast<Saves>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
constexpr bool has(Saves set, Saves flag) {
  return (static_cast<unsigned>(set) & static_cast<unsigned>(flag)) != 0;
}

/// An op: its parameters are members, `forward(inputs...)` (or one span of tensors) makes the
/// output and `backward(context, g)` the gradients of the inputs, written in heed ops so that they
/// have gradients themselves. An op whose backward is a kernel also has `composed(inputs...)`, its
/// forward in plain ops: that is what is differentiated when a graph of the gradient is wanted.
template <class Op>
concept Operation = requires(const Op& op, const Context& context, const Tensor& g) {
  { Op::name } -> std::convertible_to<std::string_view>;
  { Op::saves } -> std::convertible_to<Saves>;
  { op.backward(context, g) } -> std::convertible_to<Grads>;
};

namespace detail {

/// The same tensor as a node of its own, newer than every other: a border for a gradient within.
Tensor alias(const Tensor& x);
/// The gradients of `y` with respect to the defined ones of `inputs`, with a graph.
Grads differentiate(const Tensor& y, std::span<const Tensor> inputs, const Tensor& g);
[[noreturn]] void refuse_released(std::string_view op);
[[noreturn]] void refuse_undefined(std::string_view op);
/// `y` as a constant in a handle nobody else holds: a forward may have returned its input. Throws
/// GraphError, naming `op`, if there is none.
inline Tensor fresh(std::string_view op, Tensor y) {
  if (!y.defined()) refuse_undefined(op);
  const bool ours = y.single_handle() && !y.requires_grad();
  if (!ours) y = y.detach();
  return y;
}

template <class Forward>
Tensor unrecorded(std::string_view op, Forward&& forward) {
  const NoGrad quiet;
  const TimedOp timed(op);
  return fresh(op, forward());
}

/// Number of inputs of an op that takes a list of any length.
inline constexpr std::size_t kList = static_cast<std::size_t>(-1);

template <class Op, std::size_t N>
class OpNode final : public Node {
 public:
  /// Of `inputs...` or one span of them.
  template <class... Inputs>
  static Ref<Node> make(Op op, const Tensor& y, const Inputs&... inputs) {
    return Ref<Node>::first(new OpNode(std::move(op), y, inputs...));
  }

  std::string_view name() const override { return Op::name; }

  Grads backward(const Tensor& g) override {
    if (released_) refuse_released(Op::name);
    const Context context(*this);
    if constexpr (requires { &Op::composed; }) {
      if (grad_enabled()) return backward_composed(context, g, std::make_index_sequence<N>());
    }
    return op_->backward(context, g);
  }

  void forget_saved() override {
    for (Saved& input : saved_) input.forget_values();
    output_.forget_values();
    op_.reset();
    released_ = true;
  }

 private:
  using SavedInputs = std::conditional_t<N == kList, std::vector<Saved, CacheAllocator<Saved>>,
                                         std::array<Saved, N>>;
  static constexpr bool keep = has(Op::saves, Saves::inputs);

  template <class... Inputs>
  OpNode(Op op, const Tensor& y, const Inputs&... inputs)
      : Node(y, has(Op::saves, Saves::output)), op_(std::move(op)), saved_(save(inputs...)) {
    inputs_ = saved_;
  }

  static SavedInputs save(const std::same_as<Tensor> auto&... inputs) {
    return {Saved(inputs, keep)...};
  }
  static SavedInputs save(std::span<const Tensor> inputs) {
    SavedInputs saved;
    saved.reserve(inputs.size());
    for (const Tensor& input : inputs) saved.emplace_back(input, keep);
    return saved;
  }

  template <std::size_t... I>
  Grads backward_composed(const Context& context, const Tensor& g, std::index_sequence<I...>) {
    const std::array<Tensor, N> inputs{alias(context.input(I))...};
    return differentiate(op_->composed(inputs[I]...), inputs, g);
  }

  std::optional<Op> op_;  // gone once the graph is released
  SavedInputs saved_;
};

}  // namespace detail

/// Runs the op and, if recording is on and an input requires a gradient, makes the node that the op
/// moves into. The only place where a graph grows.
template <Operation Op, std::same_as<Tensor>... Inputs>
Tensor apply(Op op, const Inputs&... inputs) {
  Tensor y = detail::unrecorded(Op::name, [&] { return op.forward(inputs...); });
  if (detail::anomaly)
    detail::look_at_value(op, y, std::array<const Tensor*, sizeof...(Inputs)>{&inputs...});
  if (!grad_enabled() || !(inputs.requires_grad() || ...)) return y;
  detail::attach(y, detail::OpNode<Op, sizeof...(Inputs)>::make(std::move(op), y, inputs...));
  return y;
}

/// The same for an op whose `forward` takes a list of tensors.
template <Operation Op>
Tensor apply(Op op, std::span<const Tensor> inputs) {
  Tensor y = detail::unrecorded(Op::name, [&] { return op.forward(inputs); });
  if (detail::anomaly) {
    std::vector<const Tensor*> each;
    for (const Tensor& input : inputs) each.push_back(&input);
    detail::look_at_value(op, y, each);
  }
  if (!grad_enabled() || std::ranges::none_of(inputs, &Tensor::requires_grad)) return y;
  detail::attach(y, detail::OpNode<Op, detail::kList>::make(std::move(op), y, inputs));
  return y;
}

}  // namespace heed
