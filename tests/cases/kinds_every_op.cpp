// Kinds that are looked for in every op of the table: see docs/kinds.md.
#include <heed/tests/autograd/op_table.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <set>

#include "values.h"

namespace heed::cases {
namespace {

using op_table::draw;
using op_table::List;
using op_table::Row;
using op_table::Variant;

class EveryOp : public testing::TestWithParam<Row> {};

List leaves(List list) {
  for (Tensor& x : list) x.requires_grad_();
  return list;
}

Tensor cotangent(const Tensor& y) {
  Rng rng(11);
  return uniform(y.shape(), rng, -1, 1, f64);
}

/// Calls `f(variant, inputs, y)` for every variant; those that return their input make no node.
template <class F>
void for_each_variant(const Row& row, F f) {
  for (const Variant& variant : row.variants) {
    SCOPED_TRACE(variant.label);
    const List x = leaves(draw(variant, f64));
    const std::int64_t nodes = live_nodes();
    const Tensor y = variant.call(x);
    if (live_nodes() > nodes) f(variant, x, y);
  }
}

TEST_P(EveryOp, G02_TwoBackwardsAddUp) {
  for_each_variant(GetParam(), [](const Variant&, const List& x, const Tensor& y) {
    const Tensor seed = cotangent(y);
    backward(y, {.retain_graph = true, .seed = seed});
    List once;
    for (const Tensor& input : x) once.push_back(input.grad().clone());
    backward(y, {.seed = seed});
    for (std::size_t i = 0; i < x.size(); ++i)
      expect_values(x[i].grad(), (2 * once[i]).to_vector());
  });
}

TEST_P(EveryOp, G03_SecondBackwardNeedsTheGraph) {
  for_each_variant(GetParam(), [](const Variant&, const List& x, const Tensor& y) {
    const Tensor seed = cotangent(y);
    grad(y, x, {.seed = seed});
    for (int i = 0; i < 2; ++i)
      EXPECT_THAT(message<GraphError>([&] { grad(y, x, {.seed = seed}); }),
                  testing::HasSubstr("retain_graph"));
  });
}

/// The gradients again after a change in place: the same bits, or a GraphError.
void expect_never_wrong(const Tensor& y, const List& x, const List& right) {
  try {
    const List found = grad(y, x, {.retain_graph = true, .seed = cotangent(y)});
    for (std::size_t i = 0; i < x.size(); ++i)
      EXPECT_EQ(found[i].to_vector(), right[i].to_vector());
  } catch (const GraphError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("changed in place"));
  }
}

TEST_P(EveryOp, G07_NoStaleValueIsUsed) {
  for_each_variant(GetParam(), [](const Variant& variant, const List& x, const Tensor& y) {
    const List right = grad(y, x, {.retain_graph = true, .seed = cotangent(y)});
    for (std::size_t i = 0; i <= x.size(); ++i) {
      const List again = leaves(draw(variant, f64));
      const Tensor output = variant.call(again);
      Tensor changed = i < x.size() ? again[i] : output.detach();
      for (double& element : changed.mutate<double>()) element += 0.25;
      SCOPED_TRACE(i < x.size() ? text("input ", i) : "the output");
      expect_never_wrong(output, again, right);
    }
  });
}

TEST_P(EveryOp, S06_ReshapedInputs) {
  for_each_variant(GetParam(), [](const Variant& variant, const List& x, const Tensor& y) {
    List flat, inputs;
    for (const Tensor& input : x) {
      flat.push_back(reshape(input.detach(), {-1}).clone().requires_grad_());
      inputs.push_back(reshape(flip(flip(flat.back(), 0), 0), input.shape()));
    }
    const Tensor z = variant.call(inputs);
    expect_values(z, y.to_vector());
    const List expected = grad(y, x, {.seed = cotangent(y)});
    const List found = grad(z, flat, {.seed = cotangent(y)});
    for (std::size_t i = 0; i < x.size(); ++i) expect_values(found[i], expected[i].to_vector());
  });
}

/// found = a + b, where the terms may cancel.
void expect_sum(const Tensor& found, const Tensor& a, const Tensor& b) {
  const std::vector<double> sums = found.to_vector(), as = a.to_vector(), bs = b.to_vector();
  for (std::size_t i = 0; i < sums.size(); ++i)
    EXPECT_NEAR(sums[i], as[i] + bs[i], 1e-12 * std::max(1., std::abs(as[i]))) << "element " << i;
}

TEST_P(EveryOp, S09_TheSameTensorTwice) {
  for (const Variant& variant : GetParam().variants) {
    const List drawn = draw(variant, f64);
    for (std::size_t i = 0; i < drawn.size(); ++i)
      for (std::size_t j = i + 1; j < drawn.size(); ++j) {
        if (drawn[i].shape() != drawn[j].shape()) continue;
        SCOPED_TRACE(text(variant.label, ", inputs ", i, " and ", j));
        const bool j_is_narrower = variant.inputs[j].low > variant.inputs[i].low;
        const Tensor value = drawn[j_is_narrower ? j : i];
        List together = drawn, apart = drawn;
        apart[i] = value.clone().requires_grad_();
        apart[j] = value.clone().requires_grad_();
        together[i] = together[j] = value.clone().requires_grad_();
        const Tensor y = variant.call(apart), z = variant.call(together);
        const List two = grad(y, std::vector{apart[i], apart[j]}, {.seed = cotangent(y)});
        expect_sum(grad(z, together[i], {.seed = cotangent(z)}), two[0], two[1]);
      }
  }
}

/// The seed with another element at `j`.
Tensor with_element(const Tensor& seed, std::size_t j, double value) {
  Tensor other = seed.clone();
  other.mutate<double>()[j] = value;
  return other;
}

class OpsThatChoose : public EveryOp {};

// What an element of y does not depend on, its gradient does not reach, however large it is: 0
// times infinity would.
TEST_P(OpsThatChoose, N09_AnInfiniteGradientStaysOnItsSide) {
  for_each_variant(GetParam(), [](const Variant&, const List& x, const Tensor& y) {
    const auto pulled = [&](const Tensor& seed) {
      return grad(y, x, {.retain_graph = true, .seed = seed});
    };
    const Tensor seed = cotangent(y);
    const auto count = static_cast<std::size_t>(y.numel());
    for (std::size_t j = 0; j < count; j += std::max<std::size_t>(1, count / 4)) {
      SCOPED_TRACE(text("element ", j));
      const List reached = pulled(with_element(zeros(y.shape(), f64), j, 1));
      const List without = pulled(with_element(seed, j, 0));
      const List infinite = pulled(with_element(seed, j, infinity));
      for (std::size_t i = 0; i < x.size(); ++i) {
        const std::vector<double> r = reached[i].to_vector(), a = without[i].to_vector(),
                                  b = infinite[i].to_vector();
        for (std::size_t e = 0; e < r.size(); ++e)
          if (r[e] == 0) {
            EXPECT_EQ(a[e], b[e]) << "input " << i << ", element " << e;
          }
      }
    }
  });
}

/// Ops in which a derivative may be 0 without a choice: where a curve is flat, in a row of one
/// element, for a weight of 0, for an angle of 0.
const std::set<std::string> kZeroByArithmetic{
    "tanh",       "sigmoid",       "gelu",
    "var",        "softmax",       "log_softmax",
    "layer_norm", "cross_entropy", "attention_weights",
    "attention",  "rope",          "scaled_dot_product_attention"};

bool is_differentiable(const Row& row) { return row.order > 0; }
bool chooses(const Row& row) {
  return is_differentiable(row) && !kZeroByArithmetic.contains(row.about.op);
}

std::vector<Row> rows_that(bool (*condition)(const Row&)) {
  std::vector<Row> result;
  std::ranges::copy_if(op_table::rows(), std::back_inserter(result), condition);
  return result;
}

/// The declaration with everything but letters and digits squeezed to one _.
std::string label(const testing::TestParamInfo<Row>& test) {
  std::string result;
  for (const char c : test.param.declaration)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      result += c;
    else if (!result.empty() && result.back() != '_')
      result += '_';
  return result + std::to_string(test.index);
}

INSTANTIATE_TEST_SUITE_P(Kinds, EveryOp, testing::ValuesIn(rows_that(is_differentiable)), label);
INSTANTIATE_TEST_SUITE_P(Kinds, OpsThatChoose, testing::ValuesIn(rows_that(chooses)), label);

}  // namespace
}  // namespace heed::cases
