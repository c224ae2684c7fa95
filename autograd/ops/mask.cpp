#include <heed/autograd/apply.h>
#include <heed/autograd/kernels/elementwise.h>
#include <heed/autograd/ops/mask.h>
#include <heed/autograd/ops/reduce.h>

#include <cmath>
#include <functional>

namespace heed {
namespace ops {

struct Where {
  static constexpr std::string_view name = "where";
  static constexpr Saves saves = Saves::none;
  Mask mask;
  Tensor forward(const Tensor& a, const Tensor& b) const {
    detail::require_same_dtype(name, a, b);
    const Shape shape =
        broadcast_shapes(name, mask.shape(), broadcast_shapes(name, a.shape(), b.shape()));
    Tensor y = empty(shape, a.dtype());
    const Broadcast<3> loop(shape, {mask.shape(), a.shape(), b.shape()});
    const std::int64_t n = loop.numel();
    const auto [dm, da, db] = loop.steps();
    dispatch(a.dtype(), [&, dm = dm, da = da, db = db](auto t) {
      using T = decltype(t);
      const std::uint8_t* m = mask.data().data();
      const T *p = a.data<T>().data(), *q = b.data<T>().data();
      T* out = y.mutate<T>().data();
      const auto choose = [=](std::int64_t at, const std::array<std::int64_t, 3>& from,
                              std::int64_t length) {
        T* __restrict to = out + at;
        for (std::int64_t i = 0; i < length; ++i)
          to[i] = m[from[0] + i * dm] ? p[from[1] + i * da] : q[from[2] + i * db];
      };
      kernels::parallel_for(n, kernels::grain_of(n), [&](std::int64_t begin, std::int64_t end) {
        loop.for_each_run(begin, end, choose);
      });
    });
    return y;
  }
  Grads backward(const Context& ctx, const Tensor& g) const {
    return {ctx.needs(0) ? sum_to(masked_fill(g, !mask, 0), ctx.shape(0)) : Tensor(),
            ctx.needs(1) ? sum_to(masked_fill(g, mask, 0), ctx.shape(1)) : Tensor()};
  }
};

struct MaskedFill {
  static constexpr std::string_view name = "masked_fill";
  static constexpr Saves saves = Saves::none;
  Mask mask;
  double value;
  Tensor forward(const Tensor& x) const {
    if (!broadcasts_to(mask.shape(), x.shape()))
      throw ShapeError(text(name, ": mask ", mask.shape(), " does not broadcast to ", x.shape()));
    Tensor y = empty(x.shape(), x.dtype());
    dispatch(x.dtype(), [&](auto t) {
      using T = decltype(t);
      const T fill = static_cast<T>(value);
      kernels::zip_into(y.mutate<T>().data(), x.shape(), x.data<T>().data(), x.shape(),
                        mask.data().data(), mask.shape(),
                        [fill](T v, std::uint8_t hidden) { return hidden ? fill : v; });
    });
    return y;
  }
  Grads backward(const Context&, const Tensor& g) const { return {masked_fill(g, mask, 0)}; }
  bool means_infinity() const { return std::isinf(value); }
};

}  // namespace ops

Tensor where(const Mask& mask, const Tensor& a, const Tensor& b) {
  return apply(ops::Where{mask}, a, b);
}
Tensor masked_fill(const Tensor& x, const Mask& mask, double value) {
  return apply(ops::MaskedFill{mask, value}, x);
}

Mask causal_mask(std::int64_t queries, std::int64_t keys) {
  const Shape shape = {queries, keys};
  Mask::Values hidden;
  hidden.reserve(static_cast<std::size_t>(shape.numel()));
  for (std::int64_t i = 0; i < queries; ++i)
    for (std::int64_t j = 0; j < keys; ++j) hidden.push_back(j > i + keys - queries);
  return Mask(std::move(hidden), shape);
}
Mask causal_mask(std::int64_t queries) { return causal_mask(queries, queries); }

namespace {

template <class F>
Mask compare(const Tensor& a, const Tensor& b, F f) {
  detail::require_same_dtype("compare", a, b);
  const Shape shape = broadcast_shapes("compare", a.shape(), b.shape());
  Mask::Values values(static_cast<std::size_t>(shape.numel()));
  dispatch(a.dtype(), [&](auto t) {
    using T = decltype(t);
    kernels::zip_into(values.data(), shape, a.data<T>().data(), a.shape(), b.data<T>().data(),
                      b.shape(), [f](T x, T y) { return static_cast<std::uint8_t>(f(x, y)); });
  });
  return Mask(std::move(values), shape);
}

template <class F>
Mask compare(const Tensor& a, double b, F f) {
  return compare(a, full({}, b, a.dtype()), f);
}

}  // namespace

Mask operator<(const Tensor& a, const Tensor& b) { return compare(a, b, std::less()); }
Mask operator<(const Tensor& a, double b) { return compare(a, b, std::less()); }
Mask operator>(const Tensor& a, const Tensor& b) { return compare(a, b, std::greater()); }
Mask operator>(const Tensor& a, double b) { return compare(a, b, std::greater()); }
Mask operator<=(const Tensor& a, const Tensor& b) { return compare(a, b, std::less_equal()); }
Mask operator<=(const Tensor& a, double b) { return compare(a, b, std::less_equal()); }
Mask operator>=(const Tensor& a, const Tensor& b) { return compare(a, b, std::greater_equal()); }
Mask operator>=(const Tensor& a, double b) { return compare(a, b, std::greater_equal()); }
Mask operator==(const Tensor& a, const Tensor& b) { return compare(a, b, std::equal_to()); }
Mask operator==(const Tensor& a, double b) { return compare(a, b, std::equal_to()); }
Mask operator!=(const Tensor& a, const Tensor& b) { return compare(a, b, std::not_equal_to()); }
Mask operator!=(const Tensor& a, double b) { return compare(a, b, std::not_equal_to()); }

}  // namespace heed
