#pragma once

#include <heed/autograd/tensor.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

/// Ops that move elements and compute nothing. Axes may be negative (counted from the back);
/// IndexError outside the range, ShapeError where shapes do not fit.
namespace heed {

/// Same elements in the same order; one length may be -1. Shares the storage.
Tensor reshape(const Tensor& x, const AxisList& axes);
/// Axis i of the result is axis `order[i]` of x.
Tensor permute(const Tensor& x, const AxisList& order);
/// Two axes swapped, the last two unless named.
Tensor transpose(const Tensor& x, std::int64_t a = -2, std::int64_t b = -1);
/// Without the axis, whose length must be 1.
Tensor squeeze(const Tensor& x, std::int64_t axis);
/// With a new axis of length 1 before `axis` (-1: at the end).
Tensor unsqueeze(const Tensor& x, std::int64_t axis);
Tensor broadcast_to(const Tensor& x, const Shape& shape);

/// Elements start, start + step, ... before stop along an axis. start and stop may be negative and
/// are limited to the axis, as in Python. Throws ValueError unless step > 0.
Tensor slice(const Tensor& x, std::int64_t axis, std::int64_t start, std::int64_t stop,
             std::int64_t step = 1);
/// One after the other along an axis; the other axes must agree.
Tensor concat(const std::vector<Tensor>& xs, std::int64_t axis = 0);
/// Side by side along a new axis; all of one shape.
Tensor stack(const std::vector<Tensor>& xs, std::int64_t axis = 0);
/// Parts of `size` along an axis, the last one shorter if it has to be.
std::vector<Tensor> split(const Tensor& x, std::int64_t size, std::int64_t axis = 0);
/// Parts of the given sizes, which add up to the axis.
std::vector<Tensor> split(const Tensor& x, const std::vector<std::int64_t>& sizes,
                          std::int64_t axis = 0);
/// Order reversed along an axis.
Tensor flip(const Tensor& x, std::int64_t axis);

/// (B, T, C) to (B, H, T, C / H). Throws ShapeError unless heads divides C.
Tensor split_heads(const Tensor& x, std::int64_t heads);
/// (B, H, T, D) to (B, T, H D).
Tensor merge_heads(const Tensor& x);

/// `axes` with a -1 replaced by the length that keeps the number of elements. Throws ShapeError,
/// naming `op`, if there is none.
Shape resolve_shape(std::string_view op, const Shape& from, const AxisList& axes);

}  // namespace heed
