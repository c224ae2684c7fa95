#include <heed/autograd/apply.h>
#include <heed/autograd/kernels/elementwise.h>
#include <heed/autograd/ops/activation.h>
#include <heed/autograd/ops/arithmetic.h>
#include <heed/autograd/ops/elementwise.h>
#include <heed/autograd/ops/mask.h>

#include <cmath>
#include <numbers>

namespace heed {
namespace ops {

struct Sigmoid {
  static constexpr std::string_view name = "sigmoid";
  static constexpr Saves saves = Saves::output;
  Tensor forward(const Tensor& x) const {
    return kernels::map_vectors(x, [](auto& table) { return table.sigmoid; });
  }
  Grads backward(const Context& ctx, const Tensor& g) const {
    const Tensor y = ctx.output();
    return {g * (y * (1 - y))};
  }
};

struct LeakyRelu {
  static constexpr std::string_view name = "leaky_relu";
  static constexpr Saves saves = Saves::inputs;
  double slope;
  Tensor forward(const Tensor& x) const {
    return kernels::map(
        x, [s = slope](auto v) { return v <= 0 ? v * static_cast<decltype(v)>(s) : v; });
  }
  Grads backward(const Context& ctx, const Tensor& g) const {
    return {where(ctx.input(0) <= 0, g * slope, g)};
  }
};

struct Relu {
  static constexpr std::string_view name = "relu";
  static constexpr Saves saves = Saves::output;
  Tensor forward(const Tensor& x) const {
    return kernels::map(x, [](auto v) { return v <= 0 ? 0 : v; });
  }
  Grads backward(const Context& ctx, const Tensor& g) const {
    return {masked_fill(g, ctx.output() == 0, 0)};
  }
};

struct Elu {
  static constexpr std::string_view name = "elu";
  static constexpr Saves saves = Saves::inputs;
  double alpha;
  Tensor forward(const Tensor& x) const {
    return kernels::map(x, [a = alpha](auto v) {
      return v <= 0 ? static_cast<decltype(v)>(a) * std::expm1(v) : v;
    });
  }
  // exp(x) of the negative side only: exp(x) of a large x would be inf
  Grads backward(const Context& ctx, const Tensor& g) const {
    const Tensor x = ctx.input(0);
    return {where(x <= 0, g * (alpha * exp(minimum(x, zeros({}, ctx.dtype())))), g)};
  }
};

struct Softplus {
  static constexpr std::string_view name = "softplus";
  static constexpr Saves saves = Saves::inputs;
  Tensor forward(const Tensor& x) const {
    return kernels::map(
        x, [](auto v) { return std::log1p(std::exp(-std::fabs(v))) + (v > 0 ? v : 0); });
  }
  Grads backward(const Context& ctx, const Tensor& g) const { return {g * sigmoid(ctx.input(0))}; }
};

struct Silu {
  static constexpr std::string_view name = "silu";
  static constexpr Saves saves = Saves::inputs;
  Tensor forward(const Tensor& x) const {
    return kernels::map_vectors(x, [](auto& table) { return table.silu; });
  }
  Tensor composed(const Tensor& x) const { return x * sigmoid(x); }
  // dy/dx = s (1 + x (1 - s)), s = sigmoid(x)
  Grads backward(const Context& ctx, const Tensor& g) const {
    return {kernels::map_vectors_backward(ctx.input(0), g,
                                          [](auto& table) { return table.silu_backward; })};
  }
};

/// Φ(x), the normal distribution.
struct NormalCdf {
  static constexpr std::string_view name = "normal_cdf";
  static constexpr Saves saves = Saves::inputs;
  Tensor forward(const Tensor& x) const {
    return kernels::map_vectors(x, [](auto& table) { return table.normal_cdf; });
  }
  // dy/dx = φ(x)
  Grads backward(const Context& ctx, const Tensor& g) const {
    constexpr double at_zero = std::numbers::inv_sqrtpi / std::numbers::sqrt2;
    return {g * (at_zero * exp(-0.5 * square(ctx.input(0))))};
  }
};

/// x Φ(x).
struct GeluErf {
  static constexpr std::string_view name = "gelu";
  static constexpr Saves saves = Saves::inputs;
  Tensor forward(const Tensor& x) const {
    return kernels::map_vectors(x, [](auto& table) { return table.gelu; });
  }
  Tensor composed(const Tensor& x) const { return x * apply(NormalCdf{}, x); }
  // dy/dx = Φ(x) + x φ(x)
  Grads backward(const Context& ctx, const Tensor& g) const {
    return {kernels::map_vectors_backward(ctx.input(0), g,
                                          [](auto& table) { return table.gelu_backward; })};
  }
};

/// x sigmoid(2u), u = √(2/π) (x + 0.044715 x³): the same as x/2 (1 + tanh u), without its
/// cancellation.
struct GeluTanh {
  static constexpr std::string_view name = "gelu_tanh";
  static constexpr Saves saves = Saves::inputs;
  Tensor forward(const Tensor& x) const {
    return kernels::map_vectors(x, [](auto& table) { return table.gelu_tanh; });
  }
  Tensor composed(const Tensor& x) const {
    constexpr double scale = 2 * std::numbers::sqrt2 * std::numbers::inv_sqrtpi, cubic = 0.044715;
    constexpr double flat = 100;  // beyond, the gate is 0 or 1, and x³ may overflow
    const Tensor v = clamp(x, -flat, flat);
    return x * sigmoid(scale * (v + cubic * (square(v) * v)));
  }
  // dy/dx = s + 2 x s (1 - s) du/dx, s = sigmoid(2u)
  Grads backward(const Context& ctx, const Tensor& g) const {
    return {kernels::map_vectors_backward(ctx.input(0), g,
                                          [](auto& table) { return table.gelu_tanh_backward; })};
  }
};

}  // namespace ops

Tensor sigmoid(const Tensor& x) { return apply(ops::Sigmoid{}, x); }
Tensor relu(const Tensor& x) { return apply(ops::Relu{}, x); }
Tensor leaky_relu(const Tensor& x, double slope) { return apply(ops::LeakyRelu{slope}, x); }
Tensor elu(const Tensor& x, double alpha) { return apply(ops::Elu{alpha}, x); }
Tensor gelu(const Tensor& x, Gelu form) {
  return form == Gelu::erf ? apply(ops::GeluErf{}, x) : apply(ops::GeluTanh{}, x);
}
Tensor silu(const Tensor& x) { return apply(ops::Silu{}, x); }
Tensor softplus(const Tensor& x) { return apply(ops::Softplus{}, x); }

}  // namespace heed
