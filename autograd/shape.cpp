#include <heed/autograd/shape.h>

#include <utility>

namespace heed {

std::ostream& operator<<(std::ostream& out, const Shape& shape) {
  out << '(';
  for (std::size_t i = 0; i < shape.size(); ++i) out << (i ? ", " : "") << shape[i];
  return out << ')';
}

std::size_t normalize_axis(std::string_view op, std::int64_t axis, std::int64_t ndim) {
  if (ndim == 0) throw IndexError(text(op, ": axis ", axis, " of a tensor without axes"));
  if (axis < -ndim || axis >= ndim)
    throw IndexError(text(op, ": axis ", axis, " of a tensor with ", ndim,
                          ndim == 1 ? " axis" : " axes", "; allowed are ", -ndim, " to ",
                          ndim - 1));
  return static_cast<std::size_t>(axis < 0 ? axis + ndim : axis);
}

Shape unravel_index(std::int64_t element, Shape shape) {
  for (std::size_t axis = shape.size(); axis-- > 0;)
    shape[axis] = std::exchange(element, element / shape[axis]) % shape[axis];
  return shape;
}

Shape broadcast_shapes(std::string_view op, const Shape& a, const Shape& b) {
  if (a == b) return a;
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape result = longer;
  const std::size_t lead = longer.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    const std::int64_t x = longer[lead + i], y = shorter[i];
    if (x != y && x != 1 && y != 1)
      throw ShapeError(text(op, ": shapes ", a, " and ", b, " do not broadcast: axis -",
                            shorter.size() - i, " has the lengths ", &a == &longer ? x : y, " and ",
                            &a == &longer ? y : x, ", which must be equal, or one of them 1"));
    result[lead + i] = x == 1 ? y : x;
  }
  return result;
}

bool broadcasts_to(const Shape& from, const Shape& to) {
  if (from.size() > to.size()) return false;
  const std::size_t lead = to.size() - from.size();
  for (std::size_t i = 0; i < from.size(); ++i)
    if (from[i] != to[lead + i] && from[i] != 1) return false;
  return true;
}

}  // namespace heed
