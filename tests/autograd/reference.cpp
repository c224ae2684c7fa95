#include "reference.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace heed::reference {

double Array::operator()(const Index& index) const {
  const std::size_t lead = index.size() - shape.size();
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < shape.size(); ++i)
    offset = offset * shape[i] + (shape[i] == 1 ? 0 : index[lead + i]);
  return values.at(static_cast<std::size_t>(offset));
}

std::vector<Index> indices(const Shape& shape) {
  std::vector<Index> result{Index()};
  for (const std::int64_t length : shape) {
    std::vector<Index> longer;
    for (const Index& index : result)
      for (std::int64_t i = 0; i < length; ++i) {
        longer.push_back(index);
        longer.back().push_back(i);
      }
    result = std::move(longer);
  }
  return result;
}

Array build(const Shape& shape, const std::function<double(const Index&)>& f) {
  Array result{shape, {}};
  for (const Index& index : indices(shape)) result.values.push_back(f(index));
  return result;
}

Shape broadcast(const std::vector<Shape>& shapes) {
  std::size_t rank = 0;
  for (const Shape& shape : shapes) rank = std::max(rank, shape.size());
  Index lengths(rank, 1);
  for (const Shape& shape : shapes)
    for (std::size_t i = 0; i < shape.size(); ++i)
      if (shape[i] != 1) lengths[rank - shape.size() + i] = shape[i];
  return Shape(lengths);
}

Array each(const Array& x, const std::function<double(double)>& f) {
  return build(x.shape, [&](const Index& index) { return f(x(index)); });
}

Array each(const Array& x, double (*f)(double)) { return each(x, std::function(f)); }

Array each(const Array& a, const Array& b, const std::function<double(double, double)>& f) {
  return build(broadcast({a.shape, b.shape}),
               [&](const Index& index) { return f(a(index), b(index)); });
}

Array reduce(const Array& x, const std::vector<std::size_t>& axes, bool keepdim,
             const std::function<double(const Row&)>& f) {
  Shape kept = x.shape;
  Shape reduced(Index(x.shape.size(), 1));
  for (const std::size_t axis : axes) {
    kept[axis] = 1;
    reduced[axis] = x.shape[axis];
  }
  Array result = build(kept, [&](const Index& outer) {
    Row row;
    for (const Index& inner : indices(reduced)) {
      Index index = outer;
      for (const std::size_t axis : axes) index[axis] = inner[axis];
      row.push_back(x(index));
    }
    return f(row);
  });
  if (keepdim) return result;
  Index rest;
  for (std::size_t i = 0; i < kept.size(); ++i)
    if (std::ranges::find(axes, i) == axes.end()) rest.push_back(kept[i]);
  result.shape = Shape(rest);
  return result;
}

std::vector<std::size_t> all_axes(const Array& x) {
  std::vector<std::size_t> axes(x.shape.size());
  for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = i;
  return axes;
}

Array along(const Array& x, std::size_t axis, const std::function<Row(const Row&)>& f) {
  return build(x.shape, [&](const Index& at) {
    Row line;
    Index index = at;
    for (index[axis] = 0; index[axis] < x.shape[axis]; ++index[axis]) line.push_back(x(index));
    return f(line).at(static_cast<std::size_t>(at[axis]));
  });
}

double sum(const Row& row) {
  double total = 0;
  for (const double v : row) total += v;
  return total;
}

double mean(const Row& row) { return sum(row) / static_cast<double>(row.size()); }

double variance(const Row& row, double correction) {
  const double center = mean(row);
  double total = 0;
  for (const double v : row) total += (v - center) * (v - center);
  return total / (static_cast<double>(row.size()) - correction);
}

double logsumexp(const Row& row) {
  const double top = *std::ranges::max_element(row);
  if (top == -std::numeric_limits<double>::infinity()) return top;
  double total = 0;
  for (const double v : row) total += std::exp(v - top);
  return top + std::log(total);
}

Row softmax(const Row& row) {
  const double whole = logsumexp(row);
  Row result;
  for (const double v : row) result.push_back(std::isinf(whole) ? 0 : std::exp(v - whole));
  return result;
}

Row log_softmax(const Row& row) {
  const double whole = logsumexp(row);
  Row result;
  for (const double v : row) result.push_back(std::isinf(whole) ? whole : v - whole);
  return result;
}

Array matmul(const Array& a, const Array& b, bool transpose_a, bool transpose_b) {
  const auto batch = [](const Shape& shape) { return Index(shape.begin(), shape.end() - 2); };
  const std::size_t ra = a.shape.size(), rb = b.shape.size();
  Shape shape = broadcast({Shape(batch(a.shape)), Shape(batch(b.shape))});
  shape.push_back(a.shape[transpose_a ? ra - 1 : ra - 2]);
  shape.push_back(b.shape[transpose_b ? rb - 2 : rb - 1]);
  const std::int64_t inner = a.shape[transpose_a ? ra - 2 : ra - 1];
  return build(shape, [&](const Index& index) {
    double total = 0;
    for (std::int64_t k = 0; k < inner; ++k) {
      Index left = index, right = index;
      const std::int64_t row = index[index.size() - 2], column = index.back();
      left[index.size() - 2] = transpose_a ? k : row;
      left.back() = transpose_a ? row : k;
      right[index.size() - 2] = transpose_b ? column : k;
      right.back() = transpose_b ? k : column;
      total += a(left) * b(right);
    }
    return total;
  });
}

}  // namespace heed::reference
