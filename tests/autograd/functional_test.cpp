#include <heed/autograd/autograd.h>

#include <cmath>

#include "support.h"

namespace heed {
namespace {

using List = std::vector<Tensor>;
using Functional = NothingStays;

Tensor random(Shape shape, std::uint64_t seed) {
  Rng rng(seed);
  return normal(std::move(shape), rng, 0, 1, f64);
}

void expect_near(const Tensor& a, const Tensor& b, double tolerance = 1e-12) {
  ASSERT_EQ(a.shape(), b.shape());
  const std::vector<double> x = a.to_vector(), y = b.to_vector();
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], y[i], tolerance) << "at " << i;
}

/// ∂f(x)/∂x by central differences.
template <class F>
Tensor differences(const F& f, const Tensor& x) {
  constexpr double kStep = 1e-5;
  List rows;
  for (std::size_t i = 0; i < static_cast<std::size_t>(x.numel()); ++i) {
    const auto at = [&](double step) {
      std::vector<double> values = x.to_vector();
      values[i] += step;
      return f(tensor(std::move(values), x.shape(), f64)).detach();
    };
    rows.push_back((at(kStep) - at(-kStep)) / (2 * kStep));
  }
  const Tensor y = f(x);
  std::vector<std::int64_t> shape(y.shape().begin(), y.shape().end());
  shape.insert(shape.end(), x.shape().begin(), x.shape().end());
  return reshape(transpose(reshape(stack(rows), {x.numel(), y.numel()})), shape);
}

// ---- jacobian

TEST_F(Functional, TheJacobianOfAMatrixProductIsTheMatrix) {
  const Tensor a = random({2, 3}, 1), x = random({3}, 2);
  expect_near(jacobian([&](const Tensor& in) { return matmul(a, in); }, x), a);
}

TEST_F(Functional, TheJacobianOfSoftmaxIsDiagonalMinusOuterProduct) {
  const Tensor x = random({4}, 3), p = softmax(x);
  const Tensor expected = eye(4, f64) * p - unsqueeze(p, 1) * p;
  expect_near(jacobian([](const Tensor& in) { return softmax(in); }, x), expected);
}

TEST_F(Functional, TheJacobianHasTheShapesOneAfterTheOther) {
  const Tensor x = random({2, 3}, 4);
  const auto f = [](const Tensor& in) { return matmul(tanh(in), in, {.transpose_b = true}); };
  const Tensor j = jacobian(f, x);
  EXPECT_EQ(j.shape(), (Shape{2, 2, 2, 3}));
  expect_near(j, differences(f, x), 1e-8);
}

TEST_F(Functional, AListOfInputsGivesAListOfJacobians) {
  const Tensor a = random({3}, 5), b = random({}, 6);
  const List j = jacobian([](const List& in) { return in[0] * in[1]; }, List{a, b});
  ASSERT_EQ(j.size(), 2u);
  expect_near(j[0], eye(3, f64) * b);
  expect_near(j[1], a);
}

TEST_F(Functional, AFunctionThatIgnoresItsArgumentHasDerivativeZero) {
  const Tensor x = random({2}, 7), c = ones({3}, f64);
  expect_near(jacobian([&](const Tensor&) { return c; }, x), zeros({3, 2}, f64));
  expect_near(hessian([&](const Tensor&) { return sum(c); }, x), zeros({2, 2}, f64));
  expect_near(hessian([](const Tensor& in) { return sum(in); }, x), zeros({2, 2}, f64));
  expect_near(vjp([&](const Tensor&) { return c; }, x, c).product, zeros({2}, f64));
  expect_near(hvp([](const Tensor& in) { return sum(in); }, x, x).product, zeros({2}, f64));
}

TEST_F(Functional, NothingInNothingOut) {
  const auto twice = [](const Tensor& in) { return 2 * in; };
  const auto energy = [](const Tensor& in) { return sum(in * in); };
  const Tensor none = zeros({0, 2}, f64);
  EXPECT_EQ(jacobian(twice, none).shape(), (Shape{0, 2, 0, 2}));
  EXPECT_EQ(jacobian(energy, none).shape(), (Shape{0, 2}));
  EXPECT_EQ(hessian(energy, none).shape(), (Shape{0, 2, 0, 2}));
  EXPECT_EQ(hvp(energy, none, none).product.shape(), none.shape());
  EXPECT_EQ(vjp(twice, none, none).product.shape(), none.shape());
  EXPECT_TRUE(jacobian([](const List&) { return ones({2}); }, List{}).empty());
}

TEST_F(Functional, AJacobianWithAGraphCanBeDifferentiated) {
  const Tensor x = leaf({1, 2}), w = leaf({5});
  const auto f = [&](const Tensor& in) { return w * in * in * in; };
  const Tensor j = jacobian(f, x, {.create_graph = true});  // diag(3 w x²)
  expect_near(grad(sum(j), x, {.retain_graph = true}), tensor({30, 60}, {2}, f64));
  expect_near(grad(sum(j), w), tensor({15}, {1}, f64));
  EXPECT_FALSE(jacobian(f, x).requires_grad());
}

TEST_F(Functional, TheArgumentIsNotTheSameTensorUsedInside) {
  const Tensor x = leaf({3});
  const auto f = [&](const Tensor& in) { return in * x; };
  for (const bool create_graph : {false, true}) {
    EXPECT_EQ(jacobian(f, x, {create_graph}).item(), 3);
    EXPECT_EQ(vjp(f, x, {}, {create_graph}).product.item(), 3);
    EXPECT_EQ(hessian(f, x, {create_graph}).item(), 0);
    EXPECT_EQ(hvp(f, x, ones({1}, f64), {create_graph}).product.item(), 0);
  }
}

TEST_F(Functional, NeitherTheArgumentNorTheModeMatters) {
  const Tensor x = ones({2}, f64);
  const NoGrad quiet;
  expect_near(jacobian([](const Tensor& in) { return in * in; }, x), 2 * eye(2, f64));
  EXPECT_FALSE(x.requires_grad());
}

// ---- hessian

TEST_F(Functional, TheHessianOfAQuadraticFormIsTheSymmetricPart) {
  const Tensor a = random({3, 3}, 8), x = random({3}, 9);
  const auto f = [&](const Tensor& in) { return sum(in * matmul(a, in)); };
  expect_near(hessian(f, x), a + transpose(a));
}

TEST_F(Functional, TheHessianOfCrossEntropyIsSymmetricAndThatOfDifferences) {
  const Tokens targets = tokens({2, 0}, {2});
  const auto f = [&](const Tensor& in) { return cross_entropy(in, targets); };
  const Tensor logits = random({2, 3}, 10);
  const Tensor h = hessian(f, logits);
  ASSERT_EQ(h.shape(), (Shape{2, 3, 2, 3}));
  const Tensor flat = reshape(h, {6, 6});
  expect_near(flat, transpose(flat));
  expect_near(h, differences([&](const Tensor& in) { return jacobian(f, in); }, logits), 1e-8);
  // Rows do not see each other; within one it is (diag(p) - p pᵀ) / 2 for the mean over two.
  const Tensor p = softmax(slice(logits, 0, 0, 1));
  const Tensor block = (eye(3, f64) * p - transpose(p) * p) / 2;
  expect_near(slice(slice(flat, 0, 0, 3), 1, 0, 3), block);
  expect_near(slice(slice(flat, 0, 0, 3), 1, 3, 6), zeros({3, 3}, f64));
}

TEST_F(Functional, TheHessianOfAListHasBlocks) {
  const Tensor a = random({2}, 11), b = random({}, 12);
  const auto f = [](const List& in) { return sum(square(in[0]) * in[1]); };
  const std::vector<List> h = hessian(f, List{a, b});
  expect_near(h[0][0], 2 * eye(2, f64) * b);
  expect_near(h[0][1], 2 * a);
  expect_near(h[1][0], 2 * a);
  expect_near(h[1][1], zeros({}, f64));
}

TEST_F(Functional, AHessianWithAGraphCanBeDifferentiated) {
  const Tensor x = leaf({2});
  const Tensor h = hessian([](const Tensor& in) { return in * in * in * in; }, x,
                           {.create_graph = true});  // 12 x²
  EXPECT_EQ(h.item(), 48);
  EXPECT_EQ(grad(h, x).item(), 48);
}

// ---- products

TEST_F(Functional, VjpIsValueAndVectorTimesJacobian) {
  const Tensor x = random({2, 3}, 13), v = random({2, 2}, 14);
  const auto f = [](const Tensor& in) { return matmul(sin(in), in, {.transpose_b = true}); };
  const auto [y, product] = vjp(f, x, v);
  expect_near(y, f(x));
  const Tensor flat = reshape(jacobian(f, x), {4, 6});
  expect_near(reshape(product, {6}), matmul(reshape(v, {4}), flat));
  EXPECT_FALSE(y.requires_grad());
  EXPECT_FALSE(product.requires_grad());
}

TEST_F(Functional, VjpOfASingleNumberNeedsNoVector) {
  const Tensor a = random({3}, 15), b = random({3}, 16);
  const auto [y, gradients] = vjp([](const List& in) { return sum(in[0] * in[1]); }, List{a, b});
  EXPECT_NEAR(y.item(), sum(a * b).item(), 1e-12);
  expect_near(gradients[0], b);
  expect_near(gradients[1], a);
}

TEST_F(Functional, HvpIsHessianTimesVector) {
  const Tensor x = random({2, 3}, 17), v = random({2, 3}, 18);
  const auto f = [](const Tensor& in) {
    const Tensor p = softmax(matmul(in, tanh(in), {.transpose_b = true}));
    return sum(p * p);
  };
  const auto [y, product] = hvp(f, x, v);
  EXPECT_EQ(y.to_vector(), f(x).to_vector());
  const Tensor flat = reshape(hessian(f, x), {6, 6});
  expect_near(reshape(product, {6}), matmul(flat, reshape(v, {6})));
  expect_near(flat,
              reshape(differences([&](const Tensor& in) { return jacobian(f, in); }, x), {6, 6}),
              1e-8);
}

TEST_F(Functional, HvpOfAListSumsOverItsBlocks) {
  const Tensor a = random({2}, 19), b = random({}, 20), u = random({2}, 21), v = random({}, 22);
  const auto f = [](const List& in) { return sum(square(in[0]) * in[1]); };
  const auto [y, product] = hvp(f, List{a, b}, List{u, v});
  expect_near(product[0], 2 * b * u + 2 * a * v);
  expect_near(product[1], 2 * sum(a * u));
}

TEST_F(Functional, ProductsWithAGraphCanBeDifferentiated) {
  const Tensor x = leaf({2}), v = leaf({3});
  const auto f = [](const Tensor& in) { return in * in * in; };
  const auto [y, g] = vjp(f, x, v, {.create_graph = true});  // 3 x² v
  EXPECT_EQ(grad(y, x, {.retain_graph = true}).item(), 12);
  EXPECT_EQ(grad(g, x, {.retain_graph = true}).item(), 36);
  EXPECT_EQ(grad(g, v).item(), 12);
  const Tensor product = hvp(f, x, v, {.create_graph = true}).product;  // 6 x v
  EXPECT_EQ(grad(product, x, {.retain_graph = true}).item(), 18);
  EXPECT_EQ(grad(product, v).item(), 12);
}

TEST_F(Functional, ConstantsComeOfVectorsWithGraphs) {
  const Tensor x = leaf({2}), v = leaf({3});
  const auto same = [](const Tensor& in) { return in; };
  EXPECT_FALSE(vjp(same, x, v).product.requires_grad());
  EXPECT_FALSE(hvp([](const Tensor& in) { return in * in; }, x, v).product.requires_grad());
  EXPECT_FALSE(x.grad().defined());
}

// ---- errors

TEST_F(Functional, SecondDerivativesAreThoseOfOneNumber) {
  const auto twice = [](const Tensor& in) { return 2 * in; };
  const std::string rest =
      "f gives a tensor of shape (2); second derivatives are those of one number: reduce it to one "
      "element, for instance with sum()";
  EXPECT_EQ(error_of<ShapeError>([&] { hessian(twice, ones({2})); }), "hessian: " + rest);
  EXPECT_EQ(error_of<ShapeError>([&] { hvp(twice, ones({2}), ones({2})); }), "hvp: " + rest);
}

TEST_F(Functional, AVectorThatDoesNotFitIsRefused) {
  const auto f = [](const Tensor& in) { return 2 * in; };
  const auto energy = [](const Tensor& in) { return sum(in * in); };
  const Tensor x = ones({2});
  EXPECT_EQ(error_of<GraphError>([&] { vjp(f, x); }), "vjp: v is undefined; f(x) is (2)");
  EXPECT_EQ(error_of<ShapeError>([&] { vjp(f, x, ones({3})); }), "vjp: v has shape (3), f(x) (2)");
  EXPECT_EQ(error_of<DTypeError>([&] { vjp(f, x, ones({2}, f64)); }), "vjp: v is f64, f(x) f32");
  EXPECT_EQ(error_of<GraphError>([&] { hvp(energy, x, Tensor()); }),
            "hvp: v is undefined; input 0 is (2)");
  EXPECT_EQ(error_of<ShapeError>([&] { hvp(energy, x, ones({1})); }),
            "hvp: v has shape (1), input 0 (2)");
  EXPECT_EQ(error_of<ShapeError>([&] {
              hvp([](const List& in) { return sum(in[0]); }, List{x, x}, List{x});
            }),
            "hvp: 1 vectors for 2 inputs");
}

TEST_F(Functional, InputsMustBeDefinedAndResultsHaveAtMostEightAxes) {
  const auto f = [](const Tensor& in) { return in; };
  EXPECT_EQ(error_of<GraphError>([&] { jacobian(f, Tensor()); }), "jacobian: input 0 is undefined");
  const auto nothing = [](const Tensor&) { return Tensor(); };
  const Tensor x = ones({2});
  const std::string rest = ": f gives an undefined tensor";
  EXPECT_EQ(error_of<GraphError>([&] { jacobian(nothing, x); }), "jacobian" + rest);
  EXPECT_EQ(error_of<GraphError>([&] { hessian(nothing, x); }), "hessian" + rest);
  EXPECT_EQ(error_of<GraphError>([&] { vjp(nothing, x); }), "vjp" + rest);
  EXPECT_EQ(error_of<GraphError>([&] { hvp(nothing, x, x); }), "hvp" + rest);
  EXPECT_EQ(error_of<ShapeError>([&] {
              jacobian(f, ones({1, 1, 1, 1, 1}));
            }),
            "jacobian: shapes (1, 1, 1, 1, 1) and (1, 1, 1, 1, 1) make more than 8 axes; reshape "
            "to fewer");
}

}  // namespace
}  // namespace heed
