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

/// Lengths of a tensor's axes, outermost first; at most `kMaxRank` of them, none for a scalar.
class Shape {
 public:
  static constexpr std::size_t kMaxRank = 8;

  Shape() = default;
  Shape(std::initializer_list<std::int64_t> axes)
      : Shape(std::span<const std::int64_t>(axes.begin(), axes.size())) {}
  Shape(const std::vector<std::int64_t>& axes) : Shape(std::span<const std::int64_t>(axes)) {}
  /// Throws ShapeError on a negative length or more than kMaxRank axes.
  explicit Shape(std::span<const std::int64_t> axes) {
    for (std::int64_t length : axes) push_back(length);
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::int64_t ndim() const { return static_cast<std::int64_t>(size_); }
  std::int64_t numel() const {
    std::int64_t product = 1;
    for (std::int64_t length : *this) product *= length;
    return product;
  }

  std::int64_t operator[](std::size_t i) const { return axes_[i]; }
  std::int64_t& operator[](std::size_t i) { return axes_[i]; }
  std::int64_t back() const { return axes_[size_ - 1]; }
  std::int64_t& back() { return axes_[size_ - 1]; }
  const std::int64_t* begin() const { return axes_.data(); }
  const std::int64_t* end() const { return axes_.data() + size_; }
  std::int64_t* begin() { return axes_.data(); }
  std::int64_t* end() { return axes_.data() + size_; }

  void push_back(std::int64_t length) { insert(size_, length); }
  void insert(std::size_t at, std::int64_t length) {
    if (length < 0) throw ShapeError(text("shape: an axis cannot have length ", length));
    if (size_ == kMaxRank) throw ShapeError(text("shape: at most ", kMaxRank, " axes"));
    std::copy_backward(begin() + at, end(), end() + 1);
    axes_[at] = length;
    ++size_;
  }
  void erase(std::size_t at) {
    std::copy(begin() + at + 1, end(), begin() + at);
    --size_;
  }

  friend bool operator==(const Shape& a, const Shape& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  std::array<std::int64_t, kMaxRank> axes_{};
  std::size_t size_ = 0;
};

/// As (2, 3); a scalar's shape is ().
std::ostream& operator<<(std::ostream& out, const Shape& shape);

/// The axis counted from the front: -1 is the last. Throws IndexError, naming `op`, outside
/// [-ndim, ndim).
std::size_t normalize_axis(std::string_view op, std::int64_t axis, std::int64_t ndim);

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
  std::vector<std::int64_t> list;
};

}  // namespace heed
