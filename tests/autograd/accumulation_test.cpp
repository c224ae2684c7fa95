// Sums of gradients: written to a buffer that nobody else holds, where there is one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heed/autograd/autograd.h>

#include <vector>

#include "support.h"

namespace heed {
namespace {

using testing::ElementsAre;

class Accumulation : public NothingStays {};

/// Where the elements lie.
const void* place(const Tensor& x) { return x.storage()->data(); }

/// y = 3x, whose backward tells what came to it and what it returned.
struct Triple {
  static constexpr std::string_view name = "triple";
  static constexpr Saves saves = Saves::none;
  const void** came;
  const void** went;
  Tensor* kept;  // holds on to the gradient

  Tensor forward(const Tensor& x) const { return x * 3; }
  Grads backward(const Context&, const Tensor& g) const {
    Tensor dx = g * 3;
    if (came) *came = place(g);
    if (went) *went = place(dx);
    if (kept) *kept = dx;
    return {std::move(dx)};
  }
};

/// y = a + b, of which b gets no gradient.
struct AddConstant {
  static constexpr std::string_view name = "add_constant";
  static constexpr Saves saves = Saves::none;
  Tensor forward(const Tensor& a, const Tensor& b) const { return a + b; }
  Grads backward(const Context&, const Tensor& g) const { return {g * 1, {}}; }
};

TEST_F(Accumulation, OfNothingIsZero) {
  const Tensor a = leaf({1, 2}), b = leaf({3, 4}), seed = ones({2}, f64);
  const std::vector<Tensor> found = grad(heed::apply(AddConstant{}, a, b), {a, b}, {.seed = seed});
  EXPECT_THAT(found[0].to_vector(), ElementsAre(1, 1));
  EXPECT_THAT(found[1].to_vector(), ElementsAre(0, 0));
}

TEST_F(Accumulation, OfTwoIsWrittenToTheFirst) {
  const Tensor x = leaf({1, 2}), seed = ones({2}, f64);
  const void *first = nullptr, *second = nullptr;
  const Tensor older = heed::apply(Triple{{}, &second, {}}, x);
  const Tensor newer = heed::apply(Triple{{}, &first, {}}, x);
  const Tensor y = older + newer;
  const Tensor dx = grad(y, x, {.seed = seed});
  EXPECT_THAT(dx.to_vector(), ElementsAre(6, 6));
  EXPECT_EQ(place(dx), first);
  EXPECT_NE(place(dx), second);
}

// The gradient of a sum is one for both of its terms.
TEST_F(Accumulation, OfAResidualIsWrittenToWhatTheBranchGave) {
  const Tensor x = leaf({1, 2}), seed = ones({2}, f64);
  const void* of_branch = nullptr;
  const Tensor dx = grad(x + heed::apply(Triple{{}, &of_branch, {}}, x), x, {.seed = seed});
  EXPECT_THAT(dx.to_vector(), ElementsAre(4, 4));
  EXPECT_EQ(place(dx), of_branch);
  EXPECT_THAT(seed.to_vector(), ElementsAre(1, 1));
}

TEST_F(Accumulation, IsWrittenToWhatABackwardHasReadBefore) {
  const Tensor x = leaf({1, 2}), seed = ones({2}, f64);
  const void* of_sum = nullptr;
  Tensor kept;
  const Tensor y = (x + heed::apply(Triple{&of_sum, {}, &kept}, x)) * 2;
  const Tensor dx = grad(y, x, {.seed = seed});
  EXPECT_THAT(dx.to_vector(), ElementsAre(8, 8));
  EXPECT_EQ(place(dx), of_sum);
  EXPECT_THAT(kept.to_vector(), ElementsAre(6, 6));
}

TEST_F(Accumulation, LeavesWhatOthersHold) {
  const Tensor x = leaf({1, 2}), seed = ones({2}, f64);
  Tensor kept, also_kept;
  const Tensor y =
      heed::apply(Triple{{}, {}, &kept}, x) + heed::apply(Triple{{}, {}, &also_kept}, x);
  EXPECT_THAT(grad(y, x, {.seed = seed}).to_vector(), ElementsAre(6, 6));
  EXPECT_THAT(kept.to_vector(), ElementsAre(3, 3));
  EXPECT_THAT(also_kept.to_vector(), ElementsAre(3, 3));
}

/// y = x x, whose backward returns a handle on what it saved.
struct HalfSquare {
  static constexpr std::string_view name = "half_square";
  static constexpr Saves saves = Saves::inputs;
  Tensor forward(const Tensor& x) const { return x * x; }
  Grads backward(const Context& ctx, const Tensor&) const { return {ctx.input(0)}; }
};

TEST_F(Accumulation, TakesASavedTensorForAGradient) {
  const Tensor x = leaf({1, 2});
  const Tensor y = [&] {
    const Tensor h = x * 3;
    return heed::apply(HalfSquare{}, h) + h * 5;
  }();
  EXPECT_THAT(grad(y, x, {.seed = ones({2}, f64)}).to_vector(), ElementsAre(24, 33));
}

TEST_F(Accumulation, OfALeafGoesOnInItsOwnBuffer) {
  const Tensor x = leaf({1, 2});
  backward(sum(x * 3));
  const void* const before = place(x.grad());
  backward(sum(x * 3));
  EXPECT_EQ(place(x.grad()), before);
  EXPECT_THAT(x.grad().to_vector(), ElementsAre(6, 6));
}

}  // namespace
}  // namespace heed
