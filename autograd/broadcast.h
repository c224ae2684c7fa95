#pragma once

#include <heed/autograd/shape.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>

namespace heed {

/// How to walk operands that broadcast to one shape: as runs over the innermost axis, in which each
/// operand either advances with the output (step 1) or stands still (step 0). Neighbouring axes in
/// which every operand behaves alike are walked as one.
template <std::size_t N>
class Broadcast {
 public:
  Broadcast(const Shape& output,
            const std::array<std::reference_wrapper<const Shape>, N>& operands) {
    if (std::ranges::all_of(operands, [&](const Shape& each) { return each == output; })) {
      std::array<std::int64_t, N> together;
      together.fill(1);
      add_axis(output.numel(), together, true);
      return;
    }
    std::array<std::int64_t, N> full;  // stride of an operand that advances, at this axis
    full.fill(1);
    for (std::size_t axis = output.size(); axis-- > 0;) {
      std::array<std::int64_t, N> stride{};
      for (std::size_t i = 0; i < N; ++i) {
        const Shape& operand = operands[i];
        const std::size_t missing = output.size() - operand.size();
        const std::int64_t length = axis < missing ? 1 : operand[axis - missing];
        if (length == output[axis]) {
          stride[i] = full[i];
          full[i] *= length;
        }
      }
      add_axis(output[axis], stride);
    }
    if (rank_ == 0) add_axis(1, {}, true);
  }

  std::int64_t run() const { return lengths_[0]; }
  const std::array<std::int64_t, N>& steps() const { return strides_[0]; }

  /// Elements of the output.
  std::int64_t numel() const {
    std::int64_t product = 1;
    for (std::size_t axis = 0; axis < rank_; ++axis) product *= lengths_[axis];
    return product;
  }

  /// Calls `f(at, from, length)` for every run, or part of one, among the elements [begin, end) of
  /// the output: its offset there and in each operand, and its length.
  template <class F>
  void for_each_run(std::int64_t begin, std::int64_t end, F&& f) const {
    if (begin >= end) return;
    if (rank_ == 1) {
      std::array<std::int64_t, N> from;
      for (std::size_t i = 0; i < N; ++i) from[i] = strides_[0][i] * begin;
      f(begin, from, end - begin);
      return;
    }
    std::array<std::int64_t, Shape::kMaxRank> index{};
    std::array<std::int64_t, N> from{};
    std::int64_t rest = begin;
    for (std::size_t axis = 0; axis < rank_; ++axis) {
      index[axis] = rest % lengths_[axis];
      rest /= lengths_[axis];
      for (std::size_t i = 0; i < N; ++i) from[i] += strides_[axis][i] * index[axis];
    }
    for (std::int64_t at = begin; at < end;) {
      const std::int64_t length = std::min(end - at, run() - index[0]);
      f(at, from, length);
      at += length;
      for (std::size_t i = 0; i < N; ++i) from[i] -= strides_[0][i] * index[0];
      index[0] = 0;
      for (std::size_t axis = 1; axis < rank_; ++axis) {
        for (std::size_t i = 0; i < N; ++i) from[i] += strides_[axis][i];
        if (++index[axis] < lengths_[axis]) break;
        for (std::size_t i = 0; i < N; ++i) from[i] -= strides_[axis][i] * lengths_[axis];
        index[axis] = 0;
      }
    }
  }

 private:
  // Innermost first. An axis of length 1 says nothing; one that continues the last is merged into
  // it.
  void add_axis(std::int64_t length, const std::array<std::int64_t, N>& stride,
                bool always = false) {
    if (length == 1 && !always) return;
    bool continues = rank_ > 0;
    for (std::size_t i = 0; i < N && continues; ++i)
      continues = stride[i] == strides_[rank_ - 1][i] * lengths_[rank_ - 1];
    if (continues) {
      lengths_[rank_ - 1] *= length;
    } else {
      lengths_[rank_] = length;
      strides_[rank_] = stride;
      ++rank_;
    }
  }

  std::size_t rank_ = 0;
  std::array<std::int64_t, Shape::kMaxRank> lengths_;  // of the first rank_
  std::array<std::array<std::int64_t, N>, Shape::kMaxRank> strides_;
};

}  // namespace heed
