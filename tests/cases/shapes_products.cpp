// Cases of shapes: matrix products, and reading by ids.
#include <limits>

#include "values.h"

namespace heed::cases {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::vector<double> kA = {.7, -1.3, 2.1, -.4, 1.9, -3.2};

/// (rows, columns) of kA, as it is or transposed.
Tensor a_matrix(bool transposed) {
  if (!transposed) return leaf(kA, {2, 3});
  return leaf({kA[0], kA[3], kA[1], kA[4], kA[2], kA[5]}, {3, 2});
}

TEST(Cases, S05_TransposedOperands) {
  const Tensor a = a_matrix(false);
  const Tensor b = leaf({1, 1, 1, 1}, {2, 2});
  const Tensor y = matmul(a, b, {.transpose_a = true});
  EXPECT_EQ(y.shape(), (Shape{3, 2}));
  expect_values(y, {.3, .3, .6, .6, -1.1, -1.1});
}

// C = op(A) op(B) with G = [[1, 2], [3, 4]] (or of the product's shape), in every combination:
// the same numbers as for the operands transposed beforehand.
TEST(Cases, S05_GradientsOfTransposedOperandsAreThoseOfCopies) {
  for (const bool ta : {false, true})
    for (const bool tb : {false, true}) {
      SCOPED_TRACE(text("transpose_a ", ta, ", transpose_b ", tb));
      const Tensor a = a_matrix(ta), b = leaf({1, 2, 3, 4, 5, 6}, tb ? Shape{2, 3} : Shape{3, 2});
      const Tensor by_option = matmul(a, b, {.transpose_a = ta, .transpose_b = tb});
      const Tensor by_copy = matmul(ta ? transpose(a) : a, tb ? transpose(b) : b);
      EXPECT_EQ(by_option.shape(), (Shape{2, 2}));
      expect_values(by_option, by_copy.to_vector());
      const auto found = gradients(by_option, {a, b}, {1, 2, 3, 4});
      const auto expected = gradients(by_copy, {a, b}, {1, 2, 3, 4});
      for (std::size_t i : {0U, 1U}) {
        EXPECT_EQ(found[i].shape(), expected[i].shape());
        expect_values(found[i], expected[i].to_vector());
      }
    }
}

TEST(Cases, S05_GradientsOfTransposedOperandsByHand) {
  const Tensor a = leaf({1, 2}, {2, 1}), b = leaf({3, 4}, {2, 1});
  const auto outer = gradients(matmul(a, b, {.transpose_b = true}), {a, b}, {1, 10, 100, 1000});
  expect_values(outer[0], {43, 4300});
  expect_values(outer[1], {201, 2010});
  const auto inner = gradients(matmul(a, b, {.transpose_a = true}), {a, b}, {2});
  expect_values(inner[0], {6, 8});
  expect_values(inner[1], {2, 4});
}

TEST(Cases, S11_RepeatedIdsAddUp) {
  const Tensor table = leaf({1, 2, 3, 4, 5, 6}, {3, 2});
  const Tensor y = embedding(table, tokens({2, 0, 2, 2}, {4}));
  expect_values(y, {5, 6, 1, 2, 5, 6, 5, 6});
  expect_values(gradient(y, table, {1, 2, 3, 4, 5, 6, 7, 8}), {3, 4, 0, 0, 13, 16});
  const Tensor x = leaf({1, 2, 3});
  expect_values(gradient(gather(x, 0, tokens({2, 0, 2, 2}, {4})), x, {1, 2, 3, 4}), {2, 0, 8});
}

TEST(Cases, S12_IdsOutsideAreNamedWithTheirPlaceAndRange) {
  constexpr std::int64_t kRows = 5;
  for (const std::int64_t id : {std::int64_t{-1}, kRows, std::int64_t{999999999},
                                std::numeric_limits<std::int64_t>::min()}) {
    SCOPED_TRACE(id);
    const Tokens ids = tokens({0, 4, id}, {3});
    const auto named =
        AllOf(HasSubstr(text(' ', id, ' ')), HasSubstr("position 2"), HasSubstr("0 to 4"));
    EXPECT_THAT(message<IndexError>([&] { embedding(zeros({kRows, 2}), ids); }), named);
    EXPECT_THAT(message<IndexError>([&] { cross_entropy(zeros({3, kRows}), ids); }), named);
    EXPECT_THAT(message<IndexError>([&] { nll_loss(zeros({3, kRows}), ids); }), named);
    EXPECT_THAT(message<IndexError>([&] { gather(zeros({kRows}), 0, ids); }), named);
    EXPECT_THAT(message<IndexError>([&] { one_hot(ids, kRows); }), named);
  }
}

TEST(Cases, S14_BroadcastBatchAxes) {
  Rng rng(1);
  const Tensor a = normal({3, 1, 3, 4}, rng, 0, 1, f64).requires_grad_();
  const Tensor b = normal({1, 2, 4, 2}, rng, 0, 1, f64).requires_grad_();
  const Tensor y = matmul(a, b);
  EXPECT_EQ(y.shape(), (Shape{3, 2, 3, 2}));
  const auto grads = grad(y, std::vector{a, b}, {.seed = normal(y.shape(), rng, 0, 1, f64)});
  EXPECT_EQ(grads[0].shape(), a.shape());
  EXPECT_EQ(grads[1].shape(), b.shape());
}

}  // namespace
}  // namespace heed::cases
