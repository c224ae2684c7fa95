// What every row of the op table promises.
#include "op_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heed/autograd/autograd.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>
#include <map>

namespace heed::op_table {
namespace {

using testing::HasSubstr;

class OpTable : public testing::TestWithParam<Row> {
 protected:
  void SetUp() override {
    nodes_ = live_nodes();
    bytes_ = live_bytes();
  }
  void TearDown() override {
    EXPECT_EQ(live_nodes(), nodes_) << "nodes left behind";
    EXPECT_EQ(live_bytes(), bytes_) << "bytes left behind";
  }

 private:
  std::int64_t nodes_ = 0, bytes_ = 0;
};

class OpGradients : public OpTable {};
class OpsOfSeveralTensors : public OpTable {};

bool is_differentiable(const Row& row) { return row.order > 0; }
bool takes_several(const Row& row) { return row.variants.front().inputs.size() > 1; }

std::vector<Row> rows_that(bool (*condition)(const Row&)) {
  std::vector<Row> result;
  std::ranges::copy_if(rows(), std::back_inserter(result), condition);
  return result;
}

/// Equal to within `tolerance` of the size of the element or of 1.
void expect_near(const std::vector<double>& found, const std::vector<double>& expected,
                 double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i] == expected[i]) continue;
    const double error = std::abs(found[i] - expected[i]);
    EXPECT_LE(error, tolerance * std::max(1., std::abs(expected[i])))
        << "element " << i << " is " << found[i] << ", expected " << expected[i];
    if (std::isnan(error)) ADD_FAILURE() << "element " << i << " is " << found[i];
  }
}

List leaves(List list) {
  for (Tensor& x : list) x.requires_grad_();
  return list;
}

Tensor cotangent(const Tensor& y) {
  Rng rng(11);
  return uniform(y.shape(), rng, -1, 1, f32).to(y.dtype());
}

List gradients(const Variant& variant, DType dtype, bool create_graph = false) {
  const List x = leaves(draw(variant, dtype));
  const Tensor y = variant.call(x);
  return grad(y, x, {.create_graph = create_graph, .seed = cotangent(y)});
}

TEST_P(OpTable, ValueIsThatOfTheLoops) {
  for (const Variant& variant : GetParam().variants)
    for (const DType dtype : {f64, f32}) {
      SCOPED_TRACE(text(variant.label, " in ", dtype));
      const List x = draw(variant, dtype);
      const Tensor y = variant.call(x);
      const Array expected = variant.loops(arrays(x));
      EXPECT_EQ(y.shape(), expected.shape);
      EXPECT_EQ(y.dtype(), GetParam().order > 0 ? dtype : f64);
      expect_near(y.to_vector(), expected.values, dtype == f64 ? 1e-12 : 1e-5);
    }
}

TEST_P(OpGradients, GradientsAreRightToItsOrder) {
  for (const Variant& variant : GetParam().variants) {
    SCOPED_TRACE(variant.label);
    EXPECT_TRUE(gradcheck(variant.call, draw(variant, f64), {.order = GetParam().order}));
  }
}

TEST_P(OpGradients, SingleGradientIsThatOfDouble) {
  for (const Variant& variant : GetParam().variants) {
    SCOPED_TRACE(variant.label);
    const List single = gradients(variant, f32), twice = gradients(variant, f64);
    for (std::size_t i = 0; i < single.size(); ++i) {
      EXPECT_EQ(single[i].dtype(), f32);
      expect_near(single[i].to_vector(), twice[i].to_vector(), 2e-5);
    }
  }
}

// Where an op has a kernel for its backward, the graph is that of its composed form.
TEST_P(OpGradients, KernelAndGraphGiveTheSameGradient) {
  for (const Variant& variant : GetParam().variants)
    for (const DType dtype : {f64, f32}) {
      SCOPED_TRACE(text(variant.label, " in ", dtype));
      const List kernel = gradients(variant, dtype), graph = gradients(variant, dtype, true);
      for (std::size_t i = 0; i < kernel.size(); ++i)
        expect_near(kernel[i].to_vector(), graph[i].to_vector(), dtype == f64 ? 1e-12 : 2e-5);
    }
}

TEST_P(OpGradients, EachInputAloneGetsTheSameGradient) {
  for (const Variant& variant : GetParam().variants)
    for (const bool create_graph : {false, true}) {
      SCOPED_TRACE(text(variant.label, create_graph ? " with a graph" : ""));
      const List all = gradients(variant, f64, create_graph);
      for (std::size_t i = 0; i < all.size(); ++i) {
        List x = draw(variant, f64);
        x[i].requires_grad_();
        const Tensor y = variant.call(x);
        const Tensor alone = grad(y, x[i], {.create_graph = create_graph, .seed = cotangent(y)});
        expect_near(alone.to_vector(), all[i].to_vector(), 1e-12);
      }
    }
}

TEST_P(OpGradients, KeepsAsManyTensorsAsItSays) {
  std::size_t most = 0;
  for (const Variant& variant : GetParam().variants) {
    const List x = leaves(draw(variant, f64));
    most = std::max(most, saved_by(variant.call(x)).size());
  }
  EXPECT_EQ(most, static_cast<std::size_t>(GetParam().saved));
}

TEST_P(OpsOfSeveralTensors, HaveShapesThatDoNotFit) { EXPECT_FALSE(GetParam().refusals.empty()); }

TEST_P(OpsOfSeveralTensors, RefuseMixedTypesByName) {
  const Variant& variant = GetParam().variants.front();
  for (std::size_t i = 0; i < variant.inputs.size(); ++i) {
    SCOPED_TRACE(text("input ", i, " in f32"));
    List x = draw(variant, f64);
    x[i] = x[i].to(f32);
    try {
      variant.call(x);
      ADD_FAILURE() << "f32 and f64 were mixed";
    } catch (const DTypeError& error) {
      for (const std::string& word : {GetParam().name, std::string("f32"), std::string("f64")})
        EXPECT_THAT(error.what(), HasSubstr(word));
    }
  }
}

TEST_P(OpTable, RefusesWithAMessageThatNamesWhatItMet) {
  const Row& row = GetParam();
  for (const Refusal& refusal : row.refusals) {
    SCOPED_TRACE(refusal.label);
    const std::string message = refusal.message();
    for (const std::string& word : refusal.says) EXPECT_THAT(message, HasSubstr(word));
  }
}

// Two elements are the fewest that rope has.
TEST_P(OpTable, IsCalledWithHardlyAnyElementsAndWithNone) {
  const auto covers = [](std::int64_t least, std::int64_t most) {
    return std::ranges::any_of(GetParam().variants, [=](const Variant& variant) {
      Arrays all = arrays(draw(variant, f64));
      all.push_back(variant.loops(all));
      return std::ranges::any_of(all, [=](const Array& array) {
        return array.shape.numel() >= least && array.shape.numel() <= most;
      });
    });
  };
  EXPECT_TRUE(covers(1, 2));
  EXPECT_TRUE(covers(0, 0) || std::ranges::any_of(GetParam().refusals, [](const Refusal& refusal) {
                return refusal.label == "of nothing";
              }));
}

/// "operator+(Tensor, double)" as "operator_plus_Tensor_double".
std::string test_name(const testing::TestParamInfo<Row>& info) {
  static const std::map<char, std::string> symbols = {
      {'+', "plus"}, {'-', "minus"},   {'*', "times"}, {'/', "over"},
      {'<', "less"}, {'>', "greater"}, {'=', "equal"}, {'!', "not"}};
  const std::string& declaration = info.param.declaration;
  const std::size_t open = declaration.find('(');
  std::string result;
  for (std::size_t i = 0; i < declaration.size(); ++i) {
    const char c = declaration[i];
    const auto symbol = symbols.find(c);
    if (std::isalnum(static_cast<unsigned char>(c)))
      result += c;
    else if (i < open && symbol != symbols.end())
      result += '_' + symbol->second;
    else if (i + 1 < declaration.size() && result.back() != '_')
      result += '_';
  }
  return result;
}

INSTANTIATE_TEST_SUITE_P(Ops, OpTable, testing::ValuesIn(rows()), test_name);
INSTANTIATE_TEST_SUITE_P(Ops, OpGradients, testing::ValuesIn(rows_that(is_differentiable)),
                         test_name);
INSTANTIATE_TEST_SUITE_P(Ops, OpsOfSeveralTensors, testing::ValuesIn(rows_that(takes_several)),
                         test_name);

}  // namespace
}  // namespace heed::op_table
