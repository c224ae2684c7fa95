// Cases of shapes: broadcasting, empty axes, moved elements.
#include "values.h"

namespace heed::cases {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(Cases, S01_GradientsAreReducedToTheirOperands) {
  const Tensor a = leaf({1, 2}, {2, 1}), b = leaf({10, 20, 30}, {1, 3});
  const Tensor loss = sum(a * b * tensor({1, 2, 3, 4, 5, 6}, {2, 3}, f64));
  const auto grads = grad(loss, std::vector{a, b});
  EXPECT_EQ(grads[0].shape(), (Shape{2, 1}));
  expect_values(grads[0], {140, 320});
  EXPECT_EQ(grads[1].shape(), (Shape{1, 3}));
  expect_values(grads[1], {9, 12, 15});
}

TEST(Cases, S01_GradientOfAScalarIsAScalar) {
  const Tensor s = leaf({2}, Shape{});
  const Tensor m = tensor({1, 2, 3, 4}, {2, 2}, f64);
  for (const Tensor& y : {s * m, m * s, s + m, m - s, m / s, maximum(s, m)}) {
    const Tensor ds = grad(y, s, {.seed = ones({2, 2}, f64)});
    EXPECT_EQ(ds.shape(), Shape{});
  }
  expect_values(grad(sum(s * m), s), {10});
}

TEST(Cases, S02_ShapesThatDoNotBroadcastAreNamed) {
  const Tensor a = ones({5, 2, 1}), b = ones({5, 2});
  EXPECT_THAT(message<ShapeError>([&] { a + b; }),
              AllOf(HasSubstr("(5, 2, 1)"), HasSubstr("(5, 2)")));
  EXPECT_THAT(message<ShapeError>([&] { (void)(a < b); }),
              AllOf(HasSubstr("(5, 2, 1)"), HasSubstr("(5, 2)")));
  EXPECT_THAT(message<ShapeError>([&] { a + b; }),
              HasSubstr("axis -2 has the lengths 2 and 5, which must be equal, or one of them 1"));
  EXPECT_THAT(message<ShapeError>([&] { b + a; }), HasSubstr("axis -2 has the lengths 5 and 2"));
}

TEST(Cases, S12_AxesThatThereAreNotAreNamed) {
  EXPECT_THAT(message<IndexError>([] {
                sum(ones({2, 3}), 2);
              }),
              HasSubstr("axis 2 of a tensor with 2 axes; allowed are -2 to 1"));
  EXPECT_THAT(message<IndexError>([] { sum(ones({2}), -2); }),
              HasSubstr("axis -2 of a tensor with 1 axis; allowed are -1 to 0"));
  EXPECT_THAT(message<IndexError>([] { sum(ones({}), 0); }),
              HasSubstr("axis 0 of a tensor without axes"));
}

TEST(Cases, S03_EmptyAxes) {
  const Tensor a = leaf({}, {4, 0}), b = leaf({1, 2, 3, 4}, {4, 1});
  const Tensor y = a + b;
  EXPECT_EQ(y.shape(), (Shape{4, 0}));
  const Tensor db = gradient(y, b, {});
  EXPECT_EQ(db.shape(), (Shape{4, 1}));
  expect_values(db, {0, 0, 0, 0});

  const Tensor left = leaf({}, {2, 0}), right = leaf({}, {0, 3});
  const Tensor product = matmul(left, right);
  EXPECT_EQ(product.shape(), (Shape{2, 3}));
  expect_values(product, {0, 0, 0, 0, 0, 0});
  const auto grads = gradients(product, {left, right}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(grads[0].shape(), (Shape{2, 0}));
  EXPECT_EQ(grads[1].shape(), (Shape{0, 3}));

  expect_values(sum(zeros({0}, f64)), {0});
  expect_values(sum(zeros({2, 0}, f64), 1), {0, 0});
}

TEST(Cases, S06_ReshapeOfAPermutedTensor) {
  const Tensor x = leaf({0, 1, 2, 3, 4, 5}, {2, 3});
  const Tensor y = reshape(transpose(x), {2, 3});
  expect_values(y, {0, 3, 1, 4, 2, 5});
  expect_values(gradient(y, x, {1, 2, 3, 4, 5, 6}), {1, 3, 5, 2, 4, 6});
}

TEST(Cases, S07_PermuteIsUndoneByItsInverse) {
  const Tensor x = leaf(arange(24, f64).to_vector(), {2, 3, 4});
  const Tensor y = permute(x, {1, 2, 0});
  EXPECT_EQ(y.shape(), (Shape{3, 4, 2}));
  const Tensor dx = gradient(y, x, arange(24, f64).to_vector());
  std::vector<double> expected;
  for (const double block : {0., 1.})
    for (int i = 0; i < 12; ++i) expected.push_back(2 * i + block);
  expect_values(dx, expected);
}

TEST(Cases, S08_OverlappingSlicesAddUp) {
  const Tensor x = leaf({1, 2, 3, 4});
  const Tensor y = slice(x, 0, 0, 3) * tensor({1, 2, 3}, {3}, f64) +
                   slice(x, 0, 1, 4) * tensor({10, 20, 30}, {3}, f64);
  expect_values(gradient(y, x, {1, 1, 1}), {1, 12, 23, 30});
  expect_values(gradient(slice(x, 0, 2, 2), x, {}), {0, 0, 0, 0});
}

TEST(Cases, S09_TheSameTensorTwice) {
  const Tensor a = leaf({1, 2}, {1, 2});
  expect_values(gradient(concat({a, a}, 0), a, {1, 2, 3, 4}), {4, 6});
  expect_values(gradient(stack({a, a}, 0), a, {1, 2, 3, 4}), {4, 6});
  expect_values(gradient(a * a, a, {1, 1}), {2, 4});
  expect_values(gradient(a + a, a, {1, 1}), {2, 2});
  expect_values(gradient(a - a, a, {1, 1}), {0, 0});
  expect_values(gradient(maximum(a, a), a, {1, 1}), {1, 1});
  expect_values(gradient(matmul(a, a, {.transpose_b = true}), a, {1}), {2, 4});
}

}  // namespace
}  // namespace heed::cases
