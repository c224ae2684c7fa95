#pragma once

// What the ops are compared with: plain loops over doubles, written without any of them.

#include <heed/autograd/shape.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace heed::reference {

using Index = std::vector<std::int64_t>;
using Row = std::vector<double>;

struct Array {
  Shape shape;
  Row values;

  /// The element at `index`, aligned at the last axis; an axis of length 1 stands still.
  double operator()(const Index& index) const;
};

using Arrays = std::vector<Array>;

/// Every index of the shape, the last axis fastest.
std::vector<Index> indices(const Shape& shape);

/// The array whose element at each index is `f(index)`.
Array build(const Shape& shape, const std::function<double(const Index&)>& f);

Shape broadcast(const std::vector<Shape>& shapes);

/// y = f(x), and y = f(a, b) with broadcasting.
Array each(const Array& x, double (*f)(double));
Array each(const Array& x, const std::function<double(double)>& f);
Array each(const Array& a, const Array& b, const std::function<double(double, double)>& f);

/// `f` of the elements that differ in the given axes only (not negative), in row-major order.
Array reduce(const Array& x, const std::vector<std::size_t>& axes, bool keepdim,
             const std::function<double(const Row&)>& f);
std::vector<std::size_t> all_axes(const Array& x);

/// `f` of every line along an axis, which gives a line of as many elements.
Array along(const Array& x, std::size_t axis, const std::function<Row(const Row&)>& f);

double sum(const Row& row);
double mean(const Row& row);
/// Sum of squares about the mean over n - correction.
double variance(const Row& row, double correction);
double logsumexp(const Row& row);
Row softmax(const Row& row);
Row log_softmax(const Row& row);

/// op(a) op(b) of the last two axes, which both must have; the axes before broadcast.
Array matmul(const Array& a, const Array& b, bool transpose_a = false, bool transpose_b = false);

}  // namespace heed::reference
