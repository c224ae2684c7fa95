#pragma once

#include <heed/layers/linear.h>

#include <array>
#include <string_view>

namespace heed {

/// What stands between the two linear maps of an Mlp.
enum class Activation { gelu, gelu_tanh, relu, silu };

inline constexpr std::array kActivations{Activation::gelu, Activation::gelu_tanh, Activation::relu,
                                         Activation::silu};
/// As on the command line: "gelu", "gelu_tanh", ...
std::string_view name(Activation activation);
Tensor activate(const Tensor& x, Activation activation);

/// Feed-forward part of a transformer block (Vaswani et al., arXiv:1706.03762, section 3.3), with
/// GELU by default: down(activation(up(x))), x and y (..., d_model).
struct Mlp {
  Linear up;    ///< (d_model, d_ff)
  Linear down;  ///< (d_ff, d_model)
  Activation activation;

  Mlp(std::int64_t d_model, std::int64_t d_ff, Rng& rng, Activation function = Activation::gelu);

  Tensor operator()(const Tensor& x) const;
  void visit(Visitor& v);
};

}  // namespace heed
