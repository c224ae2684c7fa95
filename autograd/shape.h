#pragma once

#include <heed/autograd/error.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <span>
#include <string_view>
#include <vector>

namespace heed {

/// At most `kMaxRank` integers, held without an allocation: what an op says of its axes.
class AxisList {
 public:
  static constexpr std::size_t kMaxRank = 8;

  AxisList() = default;
  AxisList(std::initializer_list<std::int64_t> values)
      : AxisList(std::span<const std::int64_t>(values.begin(), values.size())) {}
  AxisList(const std::vector<std::int64_t>& values)
      : AxisList(std::span<const std::int64_t>(values)) {}
  /// Throws ShapeError if there are more than kMaxRank.
  explicit AxisList(std::span<const std::int64_t> values) {
    for (std::int64_t value : values) push_back(value);
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::int64_t operator[](std::size_t i) const { return values_[i]; }
  std::int64_t& operator[](std::size_t i) { return values_[i]; }
  std::int64_t back() const { return values_[size_ - 1]; }
  std::int64_t& back() { return values_[size_ - 1]; }
  const std::int64_t* begin() const { return values_.data(); }
  const std::int64_t* end() const { return values_.data() + size_; }
  std::int64_t* begin() { return values_.data(); }
  std::int64_t* end() { return values_.data() + size_; }

  void push_back(std::int64_t value) { insert(size_, value); }
  void insert(std::size_t at, std::int64_t value) {
    if (size_ == kMaxRank) throw ShapeError(text("shape: at most ", kMaxRank, " axes"));
    std::copy_backward(begin() + at, end(), end() + 1);
    values_[at] = value;
    ++size_;
  }
  void erase(std::size_t at) {
    std::copy(begin() + at + 1, end(), begin() + at);
    --size_;
  }

  friend bool operator==(const AxisList& a, const AxisList& b) {
    if (a.size_ != b.size_) return false;
    for (std::size_t i = 0; i < a.size_; ++i)  // few: std::equal would call memcmp
      if (a.values_[i] != b.values_[i]) return false;
    return true;
  }

 private:
  std::array<std::int64_t, kMaxRank> values_{};
  std::size_t size_ = 0;
};

/// Lengths of a tensor's axes, outermost first; none for a scalar.
class Shape : public AxisList {
 public:
  Shape() = default;
  Shape(std::initializer_list<std::int64_t> lengths) : AxisList(lengths) { require_lengths(); }
  Shape(const std::vector<std::int64_t>& lengths) : AxisList(lengths) { require_lengths(); }
  /// Throws ShapeError on a negative length or more than kMaxRank axes.
  explicit Shape(std::span<const std::int64_t> lengths) : AxisList(lengths) { require_lengths(); }

  std::int64_t ndim() const { return static_cast<std::int64_t>(size()); }
  /// Throws ShapeError if there are more elements than 64 bits can count.
  std::int64_t numel() const {
    std::int64_t product = 1;
    for (std::int64_t length : *this)
      if (__builtin_mul_overflow(product, length, &product)) too_many();
    return product;
  }

 private:
  [[noreturn]] static void too_many() {
    throw ShapeError("shape: more elements than can be counted");
  }
  void require_lengths() const {
    for (std::int64_t length : *this)
      if (length < 0) throw ShapeError(text("shape: an axis cannot have length ", length));
  }
};

/// As (2, 3); a scalar's shape is ().
std::ostream& operator<<(std::ostream& out, const Shape& shape);

/// The axis counted from the front: -1 is the last. Throws IndexError, naming `op`, outside
/// [-ndim, ndim).
std::size_t normalize_axis(std::string_view op, std::int64_t axis, std::int64_t ndim);

/// Where the element with this row-major number is, along each axis.
Shape unravel_index(std::int64_t element, Shape shape);

/// The shape both broadcast to by NumPy's rule: aligned at the last axis, length 1 stretches.
/// Throws ShapeError naming `op` and both shapes.
Shape broadcast_shapes(std::string_view op, const Shape& a, const Shape& b);

/// Whether a tensor of shape `from` broadcasts to exactly `to`.
bool broadcasts_to(const Shape& from, const Shape& to);

/// A set of axes, which may be negative; none named means all of them.
struct Axes {
  Axes() = default;
  Axes(std::int64_t axis) : all(false), list{axis} {}
  Axes(int axis) : all(false), list{axis} {}
  Axes(std::initializer_list<std::int64_t> axes) : all(false), list(axes) {}

  bool all = true;
  AxisList list;
};

}  // namespace heed
