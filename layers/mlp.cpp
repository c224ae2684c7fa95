#include <heed/autograd/error.h>
#include <heed/autograd/ops/activation.h>
#include <heed/layers/mlp.h>

namespace heed {
namespace {

[[noreturn]] void refuse(Activation activation) {
  throw ValueError(text("activation: there is none with number ", static_cast<int>(activation)));
}

}  // namespace

std::string_view name(Activation activation) {
  switch (activation) {
    case Activation::gelu:
      return "gelu";
    case Activation::gelu_tanh:
      return "gelu_tanh";
    case Activation::relu:
      return "relu";
    case Activation::silu:
      return "silu";
  }
  refuse(activation);
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
  }
  refuse(activation);
}

Mlp::Mlp(std::int64_t d_model, std::int64_t d_ff, Rng& rng, Activation function)
    : up(d_model, d_ff, rng), down(d_ff, d_model, rng), activation(function) {}

Tensor Mlp::operator()(const Tensor& x) const { return down(activate(up(x), activation)); }

void Mlp::visit(Visitor& v) {
  v("up", up);
  v("down", down);
}

}  // namespace heed
