// The check itself: it passes what is right, and finds what is wrong.
#include "checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heed/autograd/autograd.h>

#include <algorithm>

#include "wrong_op.h"

namespace heed::checks {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

const Subject& named(const std::vector<Subject>& all, const std::string& name) {
  return *std::ranges::find(all, name, &Subject::name);
}

class Seeds : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Seeds, EverythingHolds) {
  for (const Subject& subject : subjects())
    EXPECT_THAT(check(subject, 2, GetParam()).failure, IsEmpty());
}

#ifdef HEED_SANITIZED
INSTANTIATE_TEST_SUITE_P(Checks, Seeds, testing::Values(0));
#else
INSTANTIATE_TEST_SUITE_P(Checks, Seeds, testing::Values(0, 1, 2, 3));
#endif

TEST(Checks, SubjectsAreAllOpsAndLayersOnce) {
  const std::vector<Subject> all = subjects();
  std::set<std::string> names;
  for (const Subject& subject : all) EXPECT_TRUE(names.insert(subject.name).second) << subject.name;
  for (const op_table::Row& row : op_table::rows()) EXPECT_EQ(names.count(row.about.op), 1u) << row;
  for (const layer_table::Row& row : layer_table::rows()) EXPECT_EQ(names.count(row.layer), 1u);
  EXPECT_THAT(named(all, "argmax").cases, IsEmpty());
  EXPECT_EQ(named(all, "softmax").family, "softmax");
  EXPECT_EQ(named(all, "Mlp").family, "layers");
}

TEST(Checks, BothOrdersCount) {
  const std::vector<Subject> all = subjects();
  const Report first = check(named(all, "tanh"), 1, 0), both = check(named(all, "tanh"), 2, 0);
  EXPECT_EQ(first.elements, 35 + 1 + 1 + 40);
  EXPECT_EQ(both.elements, 3 * first.elements);  // and the inputs and the cotangent once more
  EXPECT_GT(both.relative, 0);
  EXPECT_LT(both.relative, 1e-6);
}

TEST(Checks, EachOrderIsCheckedOnce) {
  int calls = 0;
  const auto counting = [&](const op_table::List& x) {
    ++calls;
    return tanh(x[0]);
  };
  EXPECT_THAT(check(subject_of("tanh", counting), 2, 0).failure, IsEmpty());
  const int both = std::exchange(calls, 0);
  EXPECT_TRUE(gradcheck(counting, {ones({3}, f64)}, {.order = 2}));
  EXPECT_EQ(both, calls + 1);  // and once for the kernel against its composed form
}

TEST(Checks, AWrongGradientIsFoundInItsVariant) {
  const Report report = check(wrong_op().front(), 2, 0);
  EXPECT_THAT(report.failure,
              AllOf(StartsWith("tanh(Tensor), wrong: gradcheck: order 1 is wrong in"),
                    HasSubstr("input 0 of shape (3)")));
  EXPECT_GT(report.relative, 1e-4);
}

/// Right but for its composed form, which is used from order 2 on.
struct Torn {
  static constexpr std::string_view name = "torn";
  static constexpr Saves saves = Saves::inputs;
  Tensor forward(const Tensor& x) const {
    return map(x, [](auto v) { return v * v; });
  }
  Tensor composed(const Tensor& x) const { return square(x) * 1.001; }
  Grads backward(const Context& ctx, const Tensor& g) const { return {2 * ctx.input(0) * g}; }
};

TEST(Checks, AKernelThatIsNotItsComposedFormIsFoundAtOrder1) {
  const auto torn = [](const op_table::List& x) { return apply(Torn{}, x[0]); };
  EXPECT_THAT(check(subject_of("square", torn), 1, 0).failure,
              HasSubstr("the kernel's gradient is not that of the composed form: input 0"));
}

TEST(Checks, WhatThrowsIsAFailure) {
  const auto throws = [](const op_table::List&) -> Tensor { throw GraphError("no way"); };
  EXPECT_EQ(check(subject_of("exp", throws), 2, 0).failure, "exp(Tensor), wrong: no way");
}

}  // namespace
}  // namespace heed::checks
