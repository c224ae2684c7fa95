#include <heed/autograd/map.h>
#include <heed/autograd/ops/shape.h>
#include <heed/autograd/tokens_mask.h>

#include <algorithm>
#include <utility>

namespace heed {
namespace {

void require_count(std::string_view what, std::size_t count, const Shape& shape) {
  if (static_cast<std::int64_t>(count) != shape.numel())
    throw ShapeError(
        text(what, ": ", count, " values for shape ", shape, ", which holds ", shape.numel()));
}

template <class Values>
auto values_or_throw(std::string_view what, const Values& values) {
  if (!values) throw GraphError(text("undefined ", what, " were used; see defined()"));
  return std::span(*values);
}

template <class F>
Mask combine(std::string_view op, const Mask& a, const Mask& b, F f) {
  const Shape shape = broadcast_shapes(op, a.shape(), b.shape());
  Mask::Values values(static_cast<std::size_t>(shape.numel()));
  const Broadcast<2> loop(shape, {a.shape(), b.shape()});
  detail::zip_range(values.data(), a.data().data(), b.data().data(), loop, 0, loop.numel(), f);
  return Mask(std::move(values), shape);
}

template <class Array>
void print(std::ostream& out, const Array& array) {
  if (!array.defined()) {
    out << "undefined";
    return;
  }
  out << '[';
  std::size_t i = 0;
  for (const auto value : array.data())
    out << (i++ ? ", " : "") << static_cast<std::int64_t>(value);
  out << "] " << array.shape();
}

}  // namespace

Tokens::Tokens(std::vector<std::int64_t> ids, Shape shape) : shape_(shape) {
  require_count("tokens", ids.size(), shape);
  ids_ = std::make_shared<const std::vector<std::int64_t>>(std::move(ids));
}
std::int64_t Tokens::dim(std::int64_t axis) const {
  return shape_[normalize_axis("dim", axis, ndim())];
}
std::span<const std::int64_t> Tokens::data() const& { return values_or_throw("tokens", ids_); }
Tokens Tokens::reshape(const AxisList& axes) const {
  Tokens result = *this;
  result.shape_ = resolve_shape("reshape", shape_, axes);
  return result;
}

Mask::Mask(Values values, Shape shape) : shape_(shape) {
  require_count("mask", values.size(), shape);
  values_ = std::allocate_shared<const Values>(CacheAllocator<Values>(), std::move(values));
}
std::int64_t Mask::dim(std::int64_t axis) const {
  return shape_[normalize_axis("dim", axis, ndim())];
}
std::span<const std::uint8_t> Mask::data() const& {
  return values_or_throw("mask values", values_);
}
std::int64_t Mask::count() const { return std::ranges::count(data(), std::uint8_t{1}); }
Mask Mask::reshape(const AxisList& axes) const {
  Mask result = *this;
  result.shape_ = resolve_shape("reshape", shape_, axes);
  return result;
}

Tokens tokens(std::vector<std::int64_t> ids, Shape shape) { return Tokens(std::move(ids), shape); }
Mask mask(std::vector<bool> values, Shape shape) {
  return Mask(Mask::Values(values.begin(), values.end()), shape);
}

Mask operator|(const Mask& a, const Mask& b) {
  return combine("mask |", a, b, [](auto x, auto y) { return static_cast<std::uint8_t>(x | y); });
}
Mask operator&(const Mask& a, const Mask& b) {
  return combine("mask &", a, b, [](auto x, auto y) { return static_cast<std::uint8_t>(x & y); });
}
Mask operator!(const Mask& a) {
  Mask::Values values(a.data().begin(), a.data().end());
  for (std::uint8_t& value : values) value ^= 1;
  return Mask(std::move(values), a.shape());
}

std::ostream& operator<<(std::ostream& out, const Tokens& tokens) {
  print(out, tokens);
  return out;
}
std::ostream& operator<<(std::ostream& out, const Mask& mask) {
  print(out, mask);
  return out;
}

}  // namespace heed
