#pragma once

#include <heed/layers/linear.h>

#include <array>
#include <optional>
#include <string_view>

namespace heed {

/// What stands within an Mlp.
enum class Activation {
  gelu,
  gelu_tanh,
  relu,
  silu,
  swiglu,  ///< silu of a third map, times the first (Shazeer, arXiv:2002.05202)
  none     ///< of a block: no Mlp at all, attention alone
};

inline constexpr std::array kActivations{Activation::gelu, Activation::gelu_tanh, Activation::relu,
                                         Activation::silu, Activation::swiglu,    Activation::none};
/// As on the command line: "gelu", "gelu_tanh", ...
std::string_view name(Activation activation);
/// The function of that name, element by element. Throws ValueError for swiglu and none, which are
/// no such function.
Tensor activate(const Tensor& x, Activation activation);

/// Feed-forward part of a transformer block (Vaswani et al., arXiv:1706.03762, section 3.3), with
/// GELU by default: down(activation(up(x))), or with swiglu down(silu(gate(x)) up(x)); x and y
/// (..., d_model).
struct Mlp {
  std::optional<Linear> gate;  ///< (d_model, d_ff); of swiglu alone
  Linear up;                   ///< (d_model, d_ff)
  Linear down;                 ///< (d_ff, d_model)
  Activation activation;

  /// Throws ValueError for Activation::none.
  Mlp(std::int64_t d_model, std::int64_t d_ff, Rng& rng, Activation function = Activation::gelu);

  Tensor operator()(const Tensor& x) const;
  void visit(Visitor& v);
};

}  // namespace heed
