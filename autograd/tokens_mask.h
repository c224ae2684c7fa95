#pragma once

#include <heed/autograd/memory.h>
#include <heed/autograd/shape.h>

#include <cstdint>
#include <memory>
#include <ostream>
#include <span>
#include <vector>

namespace heed {

/// The target that losses and accuracies skip.
inline constexpr std::int64_t kIgnore = -100;

/// An immutable row-major array of integer ids. Not differentiable, and so a type of its own.
class Tokens {
 public:
  Tokens() = default;
  /// Throws ShapeError if the number of ids is not the shape's.
  Tokens(std::vector<std::int64_t> ids, Shape shape);

  bool defined() const { return ids_ != nullptr; }
  const Shape& shape() const { return shape_; }
  std::int64_t dim(std::int64_t axis) const;
  std::int64_t ndim() const { return shape_.ndim(); }
  std::int64_t numel() const { return defined() ? shape_.numel() : 0; }
  std::span<const std::int64_t> data() const&;
  void data() const&& = delete;  // it would outlive the ids
  std::vector<std::int64_t> to_vector() const { return {data().begin(), data().end()}; }
  /// The same ids in another shape of as many elements; one length may be -1.
  Tokens reshape(const AxisList& axes) const;

 private:
  std::shared_ptr<const std::vector<std::int64_t>> ids_;
  Shape shape_;
};

/// An immutable row-major array of booleans; in attention, true means hidden.
class Mask {
 public:
  using Values = std::vector<std::uint8_t, CacheAllocator<std::uint8_t>>;  // 0 or 1

  Mask() = default;
  /// Throws ShapeError if the number of values is not the shape's.
  Mask(Values values, Shape shape);

  bool defined() const { return values_ != nullptr; }
  const Shape& shape() const { return shape_; }
  std::int64_t dim(std::int64_t axis) const;
  std::int64_t ndim() const { return shape_.ndim(); }
  std::int64_t numel() const { return defined() ? shape_.numel() : 0; }
  /// One byte an element, 0 or 1.
  std::span<const std::uint8_t> data() const&;
  void data() const&& = delete;  // it would outlive the values
  std::vector<bool> to_vector() const { return {data().begin(), data().end()}; }
  /// How many elements are true.
  std::int64_t count() const;
  /// The same values in another shape of as many elements; one length may be -1.
  Mask reshape(const AxisList& axes) const;

 private:
  std::shared_ptr<const Values> values_;
  Shape shape_;
};

Tokens tokens(std::vector<std::int64_t> ids, Shape shape);
Mask mask(std::vector<bool> values, Shape shape);

/// Elementwise, with broadcasting.
Mask operator|(const Mask& a, const Mask& b);
Mask operator&(const Mask& a, const Mask& b);
Mask operator!(const Mask& a);

std::ostream& operator<<(std::ostream& out, const Tokens& tokens);
std::ostream& operator<<(std::ostream& out, const Mask& mask);

}  // namespace heed
