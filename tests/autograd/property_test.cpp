// What holds for every shape: broadcasting and moving against plain loops, linearity, softmax.
#include "property.h"

namespace heed::property {
namespace {

/// Where an element of a broadcast operand stands for this index of the output.
std::size_t offset(const Shape& shape, const Index& index) {
  const std::size_t missing = index.size() - shape.size();
  std::int64_t result = 0;
  for (std::size_t i = 0; i < shape.size(); ++i)
    result = result * shape[i] + (shape[i] == 1 ? 0 : index[missing + i]);
  return static_cast<std::size_t>(result);
}

// --- Broadcasting ---

using Point = std::vector<double>;

/// y = f(point) in every element, where a point has one element of each of `operands`; the first
/// of them are `xs`, whose gradients are sums of g · slopes(point).
void expect_loops(const Tensor& y, const List& xs, const std::vector<Array>& operands,
                  const std::function<double(const Point&)>& f,
                  const std::function<Point(const Point&)>& slopes) {
  std::vector<Shape> shapes;
  for (const Array& operand : operands) shapes.push_back(operand.shape);
  const Shape shape = reference::broadcast(shapes);
  const Tensor g = any_tensor(shape);
  const Array up = array(g);

  Point values;
  std::vector<Point> sums;
  for (const Tensor& x : xs) sums.emplace_back(static_cast<std::size_t>(x.numel()));
  for (const Index& index : reference::indices(shape)) {
    Point point;
    for (const Array& operand : operands)
      point.push_back(operand.values[offset(operand.shape, index)]);
    values.push_back(f(point));
    const Point slope = slopes(point);
    for (std::size_t i = 0; i < xs.size(); ++i)
      sums[i][offset(xs[i].shape(), index)] += up(index) * slope[i];
  }
  expect_same(y, tensor(values, shape, f64), "value", 0);
  const List gradients = grad(y, xs, {.seed = g});
  for (std::size_t i = 0; i < xs.size(); ++i)
    expect_same(gradients[i], tensor(sums[i], xs[i].shape(), f64), text("gradient ", i));
}

/// Two operands that broadcast, up to rank 5.
List any_operands(const Shape& shape) {
  return {any_tensor(any_narrower(shape)).requires_grad_(),
          any_tensor(any_narrower(shape)).requires_grad_()};
}

RC_GTEST_PROP(Broadcasting, AddIsAPlainLoop, ()) {
  const List x = any_operands(any_shape(0, 5));
  expect_loops(
      x[0] + x[1], x, {array(x[0]), array(x[1])}, [](const Point& p) { return p[0] + p[1]; },
      [](const Point&) {
        return Point{1, 1};
      });
}

RC_GTEST_PROP(Broadcasting, MultiplyIsAPlainLoop, ()) {
  const List x = any_operands(any_shape(0, 5));
  expect_loops(
      x[0] * x[1], x, {array(x[0]), array(x[1])}, [](const Point& p) { return p[0] * p[1]; },
      [](const Point& p) {
        return Point{p[1], p[0]};
      });
}

RC_GTEST_PROP(Broadcasting, WhereIsAPlainLoop, ()) {
  const Shape shape = any_shape(0, 5);
  const List x = any_operands(shape);
  const Mask chosen = any_mask(any_narrower(shape));
  const Array choice{chosen.shape(), {chosen.data().begin(), chosen.data().end()}};
  expect_loops(
      where(chosen, x[0], x[1]), x, {array(x[0]), array(x[1]), choice},
      [](const Point& p) { return p[2] == 1 ? p[0] : p[1]; },
      [](const Point& p) {
        return Point{p[2], 1 - p[2]};
      });
}

// --- Moving ---

/// Each element of y is that of x at `source(index)`, and its gradient goes there.
void expect_moved(const Tensor& x, const Tensor& y,
                  const std::function<Index(const Index&)>& source) {
  const Array from = array(x);
  const Tensor g = any_tensor(y.shape());
  const Array up = array(g);
  Point values, sums(from.values.size());
  for (const Index& index : reference::indices(y.shape())) {
    const std::size_t at = offset(x.shape(), source(index));
    values.push_back(from.values[at]);
    sums[at] += up(index);
  }
  expect_same(y, tensor(values, y.shape(), f64), "value", 0);
  expect_same(grad(y, x, {.seed = g}), tensor(sums, x.shape(), f64), "gradient", 0);
}

/// `back` is x again, and hands its gradient through.
void expect_round_trip(const Tensor& x, const Tensor& back) {
  expect_same(back, x, "round trip", 0);
  const Tensor g = any_tensor(x.shape());
  expect_same(grad(back, x, {.seed = g}), g, "gradient of the round trip", 0);
}

RC_GTEST_PROP(Moving, PermuteAndBack, ()) {
  const Tensor x = any_tensor(any_shape(0, 5)).requires_grad_();
  const Index order = any_order(x.shape().size());
  Index inverse(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    inverse[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  expect_moved(x, permute(x, order), [&](const Index& index) {
    Index from(order.size());
    for (std::size_t i = 0; i < order.size(); ++i)
      from[i] = index[static_cast<std::size_t>(inverse[i])];
    return from;
  });
  expect_round_trip(x, permute(permute(x, order), inverse));
}

RC_GTEST_PROP(Moving, ReshapeAndBack, ()) {
  const Tensor x = any_tensor(any_shape(0, 5)).requires_grad_();
  Index lengths;
  for (const std::int64_t axis : any_order(x.shape().size())) lengths.push_back(x.dim(axis));
  if (lengths.size() > 1 && coin()) {
    lengths[0] *= lengths[1];
    lengths.erase(lengths.begin() + 1);
  }
  const Shape shape(lengths);
  if (!lengths.empty() && x.numel() > 0 && coin()) lengths[lengths.size() / 2] = -1;
  const Tensor y = reshape(x, lengths);
  RC_ASSERT(y.shape() == shape);
  expect_same(y, tensor(x.to_vector(), shape, f64), "row-major order", 0);
  expect_round_trip(x, reshape(y, x.shape()));
}

RC_GTEST_PROP(Moving, FlipAndBack, ()) {
  const Tensor x = any_tensor(any_shape(1, 5)).requires_grad_();
  const std::int64_t axis = between(0, x.ndim() - 1);
  expect_moved(x, flip(x, axis), [&](Index index) {
    std::int64_t& i = index[static_cast<std::size_t>(axis)];
    i = x.dim(axis) - 1 - i;
    return index;
  });
  expect_round_trip(x, flip(flip(x, axis), axis));
}

RC_GTEST_PROP(Moving, SliceIsThatOfPython, ()) {
  const Tensor x = any_tensor(any_shape(1, 5)).requires_grad_();
  const std::int64_t axis = between(0, x.ndim() - 1), length = x.dim(axis), step = between(1, 3);
  const std::int64_t start = between(-6, 6), stop = between(-6, 6);
  const Tensor y = slice(x, axis - (coin() ? x.ndim() : 0), start, stop, step);

  Index taken;
  const auto from_front = [&](std::int64_t i) {
    return std::clamp<std::int64_t>(i < 0 ? i + length : i, 0, length);
  };
  for (std::int64_t i = from_front(start); i < from_front(stop); i += step) taken.push_back(i);
  RC_ASSERT(y.dim(axis) == static_cast<std::int64_t>(taken.size()));
  expect_moved(x, y, [&](Index index) {
    std::int64_t& i = index[static_cast<std::size_t>(axis)];
    i = taken[static_cast<std::size_t>(i)];
    return index;
  });
}

RC_GTEST_PROP(Moving, SplitAndConcat, ()) {
  const Tensor x = any_tensor(any_shape(1, 5)).requires_grad_();
  const std::int64_t axis = between(0, x.ndim() - 1);
  Index sizes{0};  // an empty part may stand anywhere
  for (std::int64_t rest = x.dim(axis); rest > 0; rest -= sizes.back()) {
    if (coin()) sizes.push_back(0);
    sizes.push_back(between(1, rest));
  }
  const List parts = split(x, sizes, axis);
  std::int64_t first = 0;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    RC_ASSERT(parts[p].dim(axis) == sizes[p]);
    expect_moved(x, parts[p], [&](Index index) {
      index[static_cast<std::size_t>(axis)] += first;
      return index;
    });
    first += sizes[p];
  }
  expect_round_trip(x, concat(split(x, sizes, axis), axis));
}

// --- Linearity ---

/// Functions from (T, C) to (T, C).
Tensor any_function(std::int64_t which, const Tensor& x) {
  switch (which) {
    case 0:
      return exp(x);
    case 1:
      return softmax(x);
    case 2:
      return layer_norm(x);
    case 3:
      return matmul(matmul(x, x, {.transpose_b = true}), x);
    case 4:
      return cumsum(x, 0) * norm(x, -1, true);
    case 5:
      return gelu(x) / (1 + square(flip(x, 0)));
    case 6:
      return rms_norm(x) - logsumexp(x, 0);
    default: {
      const Tensor heads = reshape(x, {1, 1, x.dim(0), x.dim(1)});
      return reshape(scaled_dot_product_attention(heads, heads, heads, {.causal = true}),
                     x.shape());
    }
  }
}

RC_GTEST_PROP(Linearity, GradientOfASumOfFunctions, ()) {
  const Tensor x = any_tensor({between(1, 4), between(1, 5)}).requires_grad_();
  const std::int64_t f = between(0, 7), g = between(0, 7);
  const double a = static_cast<double>(between(-50, 50)) / 10;
  const Tensor seed = any_tensor(x.shape());
  const Tensor both = grad(a * any_function(f, x) + any_function(g, x) / 4, x, {.seed = seed});
  const Tensor of_f = grad(any_function(f, x), x, {.seed = seed});
  const Tensor of_g = grad(any_function(g, x), x, {.seed = seed});
  expect_same(both, a * of_f + of_g / 4, "a f + g / 4");
}

RC_GTEST_PROP(Linearity, GradientInTheSeed, ()) {
  const Tensor x = any_tensor({between(1, 4), between(1, 5)}).requires_grad_();
  const Tensor y = any_function(between(0, 7), x);
  const Tensor u = any_tensor(x.shape()), v = any_tensor(x.shape());
  const auto pulled = [&](const Tensor& seed) {
    return grad(y, x, {.retain_graph = true, .seed = seed});
  };
  expect_same(pulled(3 * u - v / 8), 3 * pulled(u) - pulled(v) / 8, "3 u - v / 8");
}

// --- Softmax ---

/// Elements along an axis in another order.
Tensor reordered(const Tensor& x, std::int64_t axis, const Index& order) {
  List parts;
  for (const std::int64_t i : order) parts.push_back(slice(x, axis, i, i + 1));
  return concat(parts, axis);
}

RC_GTEST_PROP(SoftmaxProperties, AShiftIsNotSeen, ()) {
  const Tensor x = any_tensor(any_shape(1, 4, false)).requires_grad_();
  const std::int64_t axis = between(0, x.ndim() - 1);
  Shape rows = x.shape();
  rows[static_cast<std::size_t>(axis)] = 1;
  const Tensor shift = 100 * any_tensor(rows), g = any_tensor(x.shape());
  expect_same(logsumexp(x + shift, axis, true), logsumexp(x, axis, true) + shift, "logsumexp");
  for (const auto f : {softmax, log_softmax}) {
    const Tensor y = f(x, axis), moved = f(x + shift, axis);
    expect_same(moved, y, "value");
    const Tensor slope = grad(y, x, {.seed = g});
    expect_same(grad(moved, x, {.seed = g}), slope, "gradient");
    expect_same(sum(slope, axis, true), zeros(rows, f64), "slope along the shift");
  }
}

RC_GTEST_PROP(SoftmaxProperties, OrderIsKept, ()) {
  const Tensor x = any_tensor(any_shape(1, 4, false)).requires_grad_();
  const std::int64_t axis = between(0, x.ndim() - 1);
  const Index order = any_order(static_cast<std::size_t>(x.dim(axis)));
  const Tensor g = any_tensor(x.shape());
  for (const auto f : {softmax, log_softmax}) {
    const Tensor y = f(x, axis), z = f(reordered(x, axis, order), axis);
    expect_same(z, reordered(y, axis, order), "value");
    expect_same(grad(z, x, {.seed = reordered(g, axis, order)}), grad(y, x, {.seed = g}),
                "gradient");
  }
}

RC_GTEST_PROP(SoftmaxProperties, RowsSumToOneOrToNothing, ()) {
  const Tensor x = any_tensor(any_shape(1, 4, false)).requires_grad_();
  const std::int64_t axis = between(0, x.ndim() - 1);
  const Mask hidden = any_mask(x.shape());
  const Tensor shown = masked_fill(ones(x.shape(), f64), hidden, 0);
  const Tensor scores = masked_fill(x, hidden, -infinity), y = softmax(scores, axis);
  expect_same(sum(y, axis), amax(shown, axis), "sum of a row");
  expect_same(y * (1 - shown), zeros(x.shape(), f64), "hidden weights", 0);
  expect_same(exp(log_softmax(scores, axis)), y, "exp of log_softmax");
  const Tensor slope = grad(y, x, {.seed = any_tensor(x.shape())});
  expect_same(slope * (1 - shown), zeros(x.shape(), f64), "gradient of what is hidden", 0);
  expect_same(sum(slope, axis), sum(zeros(x.shape(), f64), axis), "gradient along the shift");
}

}  // namespace
}  // namespace heed::property
