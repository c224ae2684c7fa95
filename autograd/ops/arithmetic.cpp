#include <heed/autograd/apply.h>
#include <heed/autograd/kernels/elementwise.h>
#include <heed/autograd/ops/arithmetic.h>
#include <heed/autograd/ops/elementwise.h>
#include <heed/autograd/ops/reduce.h>

namespace heed {
namespace ops {

struct Add {
  static constexpr std::string_view name = "add";
  static constexpr Saves saves = Saves::none;
  Tensor forward(const Tensor& a, const Tensor& b) const {
    return kernels::zip(
        a, b, [](auto x, auto y) { return x + y; }, name);
  }
  Grads backward(const Context& ctx, const Tensor& g) const {
    return {sum_to(g, ctx.shape(0)), sum_to(g, ctx.shape(1))};
  }
};

struct Subtract {
  static constexpr std::string_view name = "subtract";
  static constexpr Saves saves = Saves::none;
  Tensor forward(const Tensor& a, const Tensor& b) const {
    return kernels::zip(
        a, b, [](auto x, auto y) { return x - y; }, name);
  }
  Grads backward(const Context& ctx, const Tensor& g) const {
    return {sum_to(g, ctx.shape(0)), ctx.needs(1) ? -sum_to(g, ctx.shape(1)) : Tensor()};
  }
};

struct Multiply {
  static constexpr std::string_view name = "multiply";
  static constexpr Saves saves = Saves::inputs;
  Tensor forward(const Tensor& a, const Tensor& b) const {
    return kernels::zip(
        a, b, [](auto x, auto y) { return x * y; }, name);
  }
  Grads backward(const Context& ctx, const Tensor& g) const {
    return {ctx.needs(0) ? sum_to(g * ctx.input(1), ctx.shape(0)) : Tensor(),
            ctx.needs(1) ? sum_to(g * ctx.input(0), ctx.shape(1)) : Tensor()};
  }
};

struct Divide {
  static constexpr std::string_view name = "divide";
  static constexpr Saves saves = Saves::inputs;
  Tensor forward(const Tensor& a, const Tensor& b) const {
    return kernels::zip(
        a, b, [](auto x, auto y) { return x / y; }, name);
  }
  Grads backward(const Context& ctx, const Tensor& g) const {
    const Tensor b = ctx.input(1), per_a = g / b;
    return {sum_to(per_a, ctx.shape(0)),
            ctx.needs(1) ? -sum_to(per_a * (ctx.input(0) / b), ctx.shape(1)) : Tensor()};
  }
};

struct AddNumber {
  static constexpr std::string_view name = "add_number";
  static constexpr Saves saves = Saves::none;
  double c;
  Tensor forward(const Tensor& x) const {
    return kernels::map(x, [c = c](auto v) { return v + static_cast<decltype(v)>(c); });
  }
  Grads backward(const Context&, const Tensor& g) const { return {g}; }
};

struct MultiplyNumber {
  static constexpr std::string_view name = "multiply_number";
  static constexpr Saves saves = Saves::none;
  double c;
  Tensor forward(const Tensor& x) const {
    return kernels::map(x, [c = c](auto v) { return v * static_cast<decltype(v)>(c); });
  }
  Grads backward(const Context&, const Tensor& g) const { return {g * c}; }
};

struct DivideByNumber {
  static constexpr std::string_view name = "divide_by_number";
  static constexpr Saves saves = Saves::none;
  double c;
  Tensor forward(const Tensor& x) const {
    return kernels::map(x, [c = c](auto v) { return v / static_cast<decltype(v)>(c); });
  }
  Grads backward(const Context&, const Tensor& g) const { return {g / c}; }
};

/// c / x
struct DivideNumber {
  static constexpr std::string_view name = "divide_number";
  static constexpr Saves saves = Saves::inputs;
  double c;
  Tensor forward(const Tensor& x) const {
    return kernels::map(x, [c = c](auto v) { return static_cast<decltype(v)>(c) / v; });
  }
  Grads backward(const Context& ctx, const Tensor& g) const {
    return {g * (-c / square(ctx.input(0)))};
  }
};

}  // namespace ops

Tensor operator+(const Tensor& a, const Tensor& b) { return apply(ops::Add{}, a, b); }
Tensor operator+(const Tensor& a, double b) { return apply(ops::AddNumber{b}, a); }
Tensor operator+(double a, const Tensor& b) { return b + a; }
Tensor operator-(const Tensor& a, const Tensor& b) { return apply(ops::Subtract{}, a, b); }
Tensor operator-(const Tensor& a, double b) { return a + -b; }
Tensor operator-(double a, const Tensor& b) { return -b + a; }
Tensor operator-(const Tensor& x) { return x * -1; }
Tensor operator*(const Tensor& a, const Tensor& b) { return apply(ops::Multiply{}, a, b); }
Tensor operator*(const Tensor& a, double b) { return apply(ops::MultiplyNumber{b}, a); }
Tensor operator*(double a, const Tensor& b) { return b * a; }
Tensor operator/(const Tensor& a, const Tensor& b) { return apply(ops::Divide{}, a, b); }
Tensor operator/(const Tensor& a, double b) { return apply(ops::DivideByNumber{b}, a); }
Tensor operator/(double a, const Tensor& b) { return apply(ops::DivideNumber{a}, b); }
Tensor neg(const Tensor& x) { return -x; }

void add_into(Tensor& sum, Tensor x) {
  if (!sum.single()) std::swap(sum, x);
  if (grad_enabled() || !sum.single() || sum.requires_grad()) {
    sum = sum + x;
    return;
  }
  dispatch(sum.dtype(), [&](auto t) {
    using T = decltype(t);
    T* to = sum.mutate<T>().data();
    const T* from = x.data<T>().data();
    const std::int64_t n = sum.numel();
    kernels::parallel_for(n, kernels::grain_of(n), [=](std::int64_t begin, std::int64_t end) {
      T* __restrict total = to;
      for (std::int64_t i = begin; i < end; ++i) total[i] += from[i];
    });
  });
}

}  // namespace heed
