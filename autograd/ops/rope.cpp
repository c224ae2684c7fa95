#include <heed/autograd/apply.h>
#include <heed/autograd/kernels/parallel.h>
#include <heed/autograd/map.h>
#include <heed/autograd/ops/attention.h>

#include <cmath>

namespace heed {
namespace ops {

/// Turns pairs in the plane: linear, and its gradient is to turn them back.
struct Rope {
  static constexpr std::string_view name = "rope";
  static constexpr Saves saves = Saves::none;
  Tensor turns;        // (T, D): of each pair the cosine, then of each the sine
  std::int64_t heads;  // rows of D side by side, all at one position
  bool backwards = false;

  Tensor forward(const Tensor& x) const {
    const std::int64_t time = turns.dim(0), width = turns.dim(1), half = width / 2;
    return detail::mapped(x, [&]<class T>(const T* from, T* to, std::int64_t n) {
      const T* table = turns.data<T>().data();
      const T sign = backwards ? T(-1) : T(1);
      const std::int64_t side_by_side = heads;
      kernels::for_each(width ? n / width : 0, width, [=](std::int64_t row) {
        const T* cosine = table + row / side_by_side % time * width;
        const T* a = from + row * width;
        T* __restrict y = to + row * width;
        for (std::int64_t i = 0; i < half; ++i) {
          const T c = cosine[i], s = sign * cosine[half + i];
          y[i] = a[i] * c - a[half + i] * s;
          y[half + i] = a[i] * s + a[half + i] * c;
        }
      });
    });
  }

  Grads backward(const Context&, const Tensor& g) const {
    return {heed::apply(Rope{turns, heads, !backwards}, g)};
  }
};

}  // namespace ops

namespace {

/// The table of ops::Rope for rows of this width, row t of it at `position(t)`.
template <class Position>
Tensor turns_at(Position position, std::int64_t time, std::int64_t width, double base,
                DType dtype) {
  if (!(base > 0)) throw ValueError(text("rope: base = ", base, " must be above 0"));
  Tensor turns = empty({time, width}, dtype);
  const std::int64_t half = width / 2;
  dispatch(dtype, [&](auto t) {
    using T = decltype(t);
    T* to = turns.mutate<T>().data();
    for (std::int64_t i = 0; i < half; ++i) {
      const double frequency = std::pow(base, -static_cast<double>(i) / static_cast<double>(half));
      for (std::int64_t row = 0; row < time; ++row) {
        const double angle = static_cast<double>(position(row)) * frequency;
        to[row * width + i] = static_cast<T>(std::cos(angle));
        to[row * width + half + i] = static_cast<T>(std::sin(angle));
      }
    }
  });
  return turns;
}

}  // namespace

Tensor rope(const Tensor& x, const Tokens& positions, double base) {
  if (x.ndim() < 2 || x.dim(-1) % 2 != 0 || positions.shape() != Shape{x.dim(-2)})
    throw ShapeError(text("rope: x ", x.shape(), " and positions ", positions.shape(),
                          "; expected (..., T, D) with even D, and (T)"));
  const auto at = [&](std::int64_t t) { return positions.data()[static_cast<std::size_t>(t)]; };
  return apply(ops::Rope{turns_at(at, x.dim(-2), x.dim(-1), base, x.dtype()), 1}, x);
}

Tensor rope(const Tensor& x, std::int64_t start, std::int64_t heads, double base) {
  if (x.ndim() < 2 || heads < 1 || x.dim(-1) % heads != 0 || x.dim(-1) / heads % 2 != 0)
    throw ShapeError(
        text("rope: x ", x.shape(), " and ", heads, " heads; expected (..., T, H D) with even D"));
  const auto at = [&](std::int64_t t) { return start + t; };
  return apply(ops::Rope{turns_at(at, x.dim(-2), x.dim(-1) / heads, base, x.dtype()), heads}, x);
}

}  // namespace heed
