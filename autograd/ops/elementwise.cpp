#include <heed/autograd/apply.h>
#include <heed/autograd/kernels/elementwise.h>
#include <heed/autograd/ops/arithmetic.h>
#include <heed/autograd/ops/elementwise.h>
#include <heed/autograd/ops/mask.h>
#include <heed/autograd/ops/reduce.h>
#include <heed/autograd/ops/shape.h>

#include <cmath>
#include <numbers>

namespace heed {
namespace ops {

struct Exp {
  static constexpr std::string_view name = "exp";
  static constexpr Saves saves = Saves::output;
  Tensor forward(const Tensor& x) const {
    return kernels::map_vectors(x, [](auto& table) { return table.exp; });
  }
  Grads backward(const Context& ctx, const Tensor& g) const { return {g * ctx.output()}; }
};

struct Log {
  static constexpr std::string_view name = "log";
  static constexpr Saves saves = Saves::inputs;
  Tensor forward(const Tensor& x) const {
    return kernels::map(x, [](auto v) { return std::log(v); });
  }
  Grads backward(const Context& ctx, const Tensor& g) const { return {g / ctx.input(0)}; }
};

struct Log1p {
  static constexpr std::string_view name = "log1p";
  static constexpr Saves saves = Saves::inputs;
  Tensor forward(const Tensor& x) const {
    return kernels::map(x, [](auto v) { return std::log1p(v); });
  }
  Grads backward(const Context& ctx, const Tensor& g) const { return {g / (1 + ctx.input(0))}; }
};

struct Sqrt {
  static constexpr std::string_view name = "sqrt";
  static constexpr Saves saves = Saves::output;
  Tensor forward(const Tensor& x) const {
    return kernels::map(x, [](auto v) { return std::sqrt(v); });
  }
  Grads backward(const Context& ctx, const Tensor& g) const { return {g / (2 * ctx.output())}; }
};

struct Rsqrt {
  static constexpr std::string_view name = "rsqrt";
  static constexpr Saves saves = Saves::output;
  Tensor forward(const Tensor& x) const {
    return kernels::map(x, [](auto v) { return 1 / std::sqrt(v); });
  }
  Grads backward(const Context& ctx, const Tensor& g) const {
    const Tensor y = ctx.output();
    return {g * (-0.5 * (square(y) * y))};
  }
};

struct Square {
  static constexpr std::string_view name = "square";
  static constexpr Saves saves = Saves::inputs;
  Tensor forward(const Tensor& x) const {
    return kernels::map(x, [](auto v) { return v * v; });
  }
  Grads backward(const Context& ctx, const Tensor& g) const { return {g * (2 * ctx.input(0))}; }
};

struct Sin {
  static constexpr std::string_view name = "sin";
  static constexpr Saves saves = Saves::inputs;
  Tensor forward(const Tensor& x) const {
    return kernels::map(x, [](auto v) { return std::sin(v); });
  }
  Grads backward(const Context& ctx, const Tensor& g) const { return {g * cos(ctx.input(0))}; }
};

struct Cos {
  static constexpr std::string_view name = "cos";
  static constexpr Saves saves = Saves::inputs;
  Tensor forward(const Tensor& x) const {
    return kernels::map(x, [](auto v) { return std::cos(v); });
  }
  Grads backward(const Context& ctx, const Tensor& g) const { return {-(g * sin(ctx.input(0)))}; }
};

struct Erf {
  static constexpr std::string_view name = "erf";
  static constexpr Saves saves = Saves::inputs;
  Tensor forward(const Tensor& x) const {
    return kernels::map_vectors(x, [](auto& table) { return table.erf; });
  }
  // dy/dx = 2/√π exp(-x²)
  Grads backward(const Context& ctx, const Tensor& g) const {
    return {g * (2 * std::numbers::inv_sqrtpi * exp(-square(ctx.input(0))))};
  }
};

struct PowerNumber {
  static constexpr std::string_view name = "pow_number";
  static constexpr Saves saves = Saves::inputs;
  double exponent;
  Tensor forward(const Tensor& x) const {
    return kernels::map(
        x, [e = exponent](auto v) { return std::pow(v, static_cast<decltype(v)>(e)); });
  }
  Grads backward(const Context& ctx, const Tensor& g) const {
    if (exponent == 0) return {zeros(ctx.shape(0), ctx.dtype())};
    return {g * (exponent * pow(ctx.input(0), exponent - 1))};
  }
};

/// x^y. A base that is replaced by 1 where it has no say keeps 0·inf out of every derivative.
struct Power {
  static constexpr std::string_view name = "pow";
  static constexpr Saves saves = Saves::inputs | Saves::output;
  Tensor forward(const Tensor& x, const Tensor& y) const {
    return kernels::zip(
        x, y, [](auto base, auto exponent) { return std::pow(base, exponent); }, name);
  }
  Grads backward(const Context& ctx, const Tensor& g) const {
    const Tensor x = ctx.input(0), y = ctx.input(1), p = ctx.output();
    Grads grads(2);
    if (ctx.needs(0)) {
      const Tensor wide = broadcast_to(x, p.shape());
      grads[0] = sum_to(g * (y * pow(masked_fill(wide, y == 0, 1), y - 1)), ctx.shape(0));
    }
    if (ctx.needs(1))
      grads[1] =
          sum_to(g * (masked_fill(p, x == 0, 0) * log(masked_fill(x, x == 0, 1))), ctx.shape(1));
    return grads;
  }
};

struct Tanh {
  static constexpr std::string_view name = "tanh";
  static constexpr Saves saves = Saves::output;
  Tensor forward(const Tensor& x) const {
    return kernels::map_vectors(x, [](auto& table) { return table.tanh; });
  }
  Grads backward(const Context& ctx, const Tensor& g) const {
    return {g * (1 - square(ctx.output()))};
  }
};

struct Abs {
  static constexpr std::string_view name = "abs";
  static constexpr Saves saves = Saves::inputs;
  Tensor forward(const Tensor& x) const {
    return kernels::map(x, [](auto v) { return std::fabs(v); });
  }
  Grads backward(const Context& ctx, const Tensor& g) const {
    const Tensor x = ctx.input(0);
    return {masked_fill(where(x < 0, -g, g), x == 0, 0)};
  }
};

/// The larger (sign 1) or the smaller (sign -1) of two.
struct Extreme {
  static constexpr std::string_view name = "maximum/minimum";
  static constexpr Saves saves = Saves::inputs;
  bool larger;
  Tensor forward(const Tensor& a, const Tensor& b) const {
    const auto pick = [l = larger](auto x, auto y) {
      return x != x || (l ? x > y : x < y) ? x : y;
    };
    return kernels::zip(a, b, pick, larger ? "maximum" : "minimum");
  }
  // dL/da = g where a wins, g / 2 where both are equal
  Grads backward(const Context& ctx, const Tensor& g) const {
    const Tensor a = ctx.input(0), b = ctx.input(1), half = g * 0.5;
    const Mask a_wins = larger ? a > b : a < b, b_wins = larger ? a < b : a > b;
    return {sum_to(where(a_wins, g, masked_fill(half, b_wins, 0)), ctx.shape(0)),
            sum_to(where(b_wins, g, masked_fill(half, a_wins, 0)), ctx.shape(1))};
  }
};

struct Clamp {
  static constexpr std::string_view name = "clamp";
  static constexpr Saves saves = Saves::inputs;
  double low, high;
  Tensor forward(const Tensor& x) const {
    return kernels::map(x, [l = low, h = high](auto v) {
      using T = decltype(v);
      return v < static_cast<T>(l)   ? static_cast<T>(l)
             : v > static_cast<T>(h) ? static_cast<T>(h)
                                     : v;
    });
  }
  Grads backward(const Context& ctx, const Tensor& g) const {
    const Tensor x = ctx.input(0);
    return {masked_fill(g, (x < low) | (x > high), 0)};
  }
};

}  // namespace ops

Tensor exp(const Tensor& x) { return apply(ops::Exp{}, x); }
Tensor log(const Tensor& x) { return apply(ops::Log{}, x); }
Tensor log1p(const Tensor& x) { return apply(ops::Log1p{}, x); }
Tensor sqrt(const Tensor& x) { return apply(ops::Sqrt{}, x); }
Tensor rsqrt(const Tensor& x) { return apply(ops::Rsqrt{}, x); }
Tensor square(const Tensor& x) { return apply(ops::Square{}, x); }
Tensor pow(const Tensor& x, double exponent) { return apply(ops::PowerNumber{exponent}, x); }
Tensor pow(const Tensor& x, const Tensor& y) { return apply(ops::Power{}, x, y); }
Tensor abs(const Tensor& x) { return apply(ops::Abs{}, x); }
Tensor sin(const Tensor& x) { return apply(ops::Sin{}, x); }
Tensor cos(const Tensor& x) { return apply(ops::Cos{}, x); }
Tensor tanh(const Tensor& x) { return apply(ops::Tanh{}, x); }
Tensor erf(const Tensor& x) { return apply(ops::Erf{}, x); }
Tensor maximum(const Tensor& a, const Tensor& b) { return apply(ops::Extreme{true}, a, b); }
Tensor minimum(const Tensor& a, const Tensor& b) { return apply(ops::Extreme{false}, a, b); }
Tensor clamp(const Tensor& x, double low, double high) {
  if (!(low <= high)) throw ValueError(text("clamp: low ", low, " is not at most high ", high));
  return apply(ops::Clamp{low, high}, x);
}

}  // namespace heed
