#include <heed/autograd/error.h>
#include <heed/autograd/ops/activation.h>
#include <heed/autograd/ops/arithmetic.h>
#include <heed/layers/choice.h>
#include <heed/layers/mlp.h>

namespace heed {

std::string_view name(Activation activation) {
  return detail::name_among("activation", activation,
                            {"gelu", "gelu_tanh", "relu", "silu", "swiglu", "none"});
}

Tensor activate(const Tensor& x, Activation activation) {
  switch (activation) {
    case Activation::gelu:
      return gelu(x, Gelu::erf);
    case Activation::gelu_tanh:
      return gelu(x, Gelu::tanh);
    case Activation::relu:
      return relu(x);
    case Activation::silu:
      return silu(x);
    case Activation::swiglu:
    case Activation::none:
      break;
  }
  throw ValueError(text("activation = ", name(activation), " is no function of an element"));
}

Mlp::Mlp(std::int64_t d_model, std::int64_t d_ff, Rng& rng, Activation function)
    : up(d_model, d_ff, rng), down(d_ff, d_model, rng), activation(function) {
  if (activation == Activation::none)
    throw ValueError("activation = none: a block of attention alone has no Mlp");
  if (activation == Activation::swiglu) gate.emplace(d_model, d_ff, rng);
}

Tensor Mlp::operator()(const Tensor& x) const {
  return down(gate ? silu((*gate)(x)) * up(x) : activate(up(x), activation));
}

void Mlp::visit(Visitor& v) {
  v("gate", gate);
  v("up", up);
  v("down", down);
}

}  // namespace heed
