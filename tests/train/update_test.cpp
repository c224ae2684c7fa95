#include <gmock/gmock.h>
#include <heed/autograd/autograd.h>
#include <heed/train/train.h>

#include <cmath>

#include "support.h"

namespace heed {
namespace {

using testing::HasSubstr;

TEST(Schedule, ConstantAndLinear) {
  const Schedule constant{.lr = 2, .warmup = 1, .end = 3};
  EXPECT_EQ(constant.at(0), 1);
  EXPECT_EQ(constant.at(1), 2);
  EXPECT_EQ(constant.at(1000), 2);
  const Schedule linear{.decay = Decay::linear, .lr = 2, .min_lr = 1, .warmup = 1, .end = 5};
  for (std::int64_t step = 1; step < 8; ++step)
    EXPECT_DOUBLE_EQ(linear.at(step),
                     2 - .25 * static_cast<double>(std::min(step - 1, std::int64_t{4})));
}

TEST(Schedule, EveryLengthIsFinite) {
  for (Decay decay : kDecays)
    for (std::int64_t warmup : {0, 1, 5})
      for (std::int64_t end : {0, 1, 4, 5})
        for (std::int64_t period : {0, 1, 9})
          for (std::int64_t step = 0; step < 8; ++step) {
            const Schedule schedule{.decay = decay,
                                    .lr = 1,
                                    .min_lr = .1,
                                    .warmup = warmup,
                                    .end = end,
                                    .period = period};
            const double lr = schedule.at(step);
            EXPECT_TRUE(lr >= .1 && lr <= 1) << name(decay) << warmup << end << period << step;
          }
}

TEST(Schedule, TheLongestWarmUpStartsAboveZero) {
  const double first = Schedule{.lr = 1, .warmup = INT64_MAX, .end = INT64_MAX}.at(0);
  EXPECT_GT(first, 0);
  EXPECT_LT(first, 1e-18);
}

TEST(Schedule, NamesItsDecays) {
  for (Decay decay : kDecays) EXPECT_EQ(decay_named(name(decay)), decay);
  EXPECT_THAT(message_of<ValueError>([] { decay_named("cosin"); }), HasSubstr("cosine"));
}

TEST(Schedule, ValidatesItsFields) {
  EXPECT_NO_THROW(validate({.lr = 0}));
  EXPECT_THROW(validate({.lr = -1}), ValueError);
  EXPECT_THROW(validate({.lr = infinity}), ValueError);
  EXPECT_THROW(validate({.lr = 1, .min_lr = 2}), ValueError);
  EXPECT_THROW(validate({.lr = 1, .min_lr = std::nan("")}), ValueError);
  EXPECT_THROW(validate({.warmup = -1}), ValueError);
  EXPECT_THROW(validate({.end = -1}), ValueError);
  EXPECT_THROW(validate({.period = -1}), ValueError);
  EXPECT_THROW(validate({.factor = 0}), ValueError);
  EXPECT_THROW(validate({.factor = 1.5}), ValueError);
  EXPECT_THROW(validate({.factor = std::nan("")}), ValueError);
}

TEST(Schedule, FallsAfterTheWarmUpByDefaultInAFifthOfTheSteps) {
  const auto rates = [](Schedule schedule) {
    schedule.lr = 1;
    schedule.warmup = 2;
    schedule.end = 12;
    std::vector<double> all;
    for (std::int64_t step = 0; step < 14; ++step) all.push_back(schedule.at(step));
    return all;
  };
  const double third = 1. / 3;
  EXPECT_THAT(rates({.decay = Decay::wsd, .min_lr = .5}),
              testing::Pointwise(testing::DoubleNear(1e-12), {third, 2 * third, 1., 1., 1., 1., 1.,
                                                              1., 1., 1., 1., .75, .5, .5}));
  EXPECT_THAT(rates({.decay = Decay::step, .min_lr = .2, .factor = .5}),
              testing::Pointwise(testing::DoubleNear(1e-12), {third, 2 * third, 1., 1., .5, .5, .25,
                                                              .25, .2, .2, .2, .2, .2, .2}));
  EXPECT_EQ(rates({.decay = Decay::noam, .min_lr = .6})[13], .6);
}

Tensor with_gradient(const std::vector<double>& gradient, DType dtype = f64) {
  Tensor x = zeros({static_cast<std::int64_t>(gradient.size())}, dtype).requires_grad_();
  backward(x, {.seed = tensor(gradient, x.shape(), dtype)});
  return x;
}

TEST(Clip, LeavesASmallNormToTheBit) {
  const Tensor x = with_gradient({.3, .4});
  EXPECT_DOUBLE_EQ(clip_grad_norm({{"x", x}}, 1), .5);
  EXPECT_EQ(x.grad().to_vector(), (std::vector{.3, .4}));
  EXPECT_DOUBLE_EQ(clip_grad_norm({{"x", x}}, infinity), .5);
  EXPECT_EQ(x.grad().to_vector(), (std::vector{.3, .4}));
}

TEST(Clip, CountsEveryElementOfEveryGradient) {
  const Tensor x = with_gradient(std::vector<double>(13, 1)), none = zeros({2}, f64);
  const Tensor y = with_gradient({6}, f32);
  EXPECT_DOUBLE_EQ(grad_norm({{"x", x}, {"none", none}, {"y", y}}), 7);
}

TEST(Clip, AddsSmallSquaresToALargeSum) {
  std::vector<double> values(8001, 1);
  values[0] = 4096;  // its square is the first after which a single has no room for another 1
  const Tensor x = with_gradient(values, f32);
  EXPECT_DOUBLE_EQ(grad_norm({{"x", x}}), std::sqrt(4096. * 4096 + 8000));
}

TEST(Clip, TakesDoublesWhoseSquaresOverflow) {
  const Tensor x = with_gradient({3e200, 4e200});
  EXPECT_DOUBLE_EQ(clip_grad_norm({{"x", x}}, 1), 5e200);
  EXPECT_DOUBLE_EQ(x.grad().to_vector()[0], .6);
}

TEST(Clip, NamesTheFirstGradientThatIsNotFinite) {
  const Tensor x = with_gradient({1, 1}), y = with_gradient({1, 1, std::nan("")});
  const std::string message = message_of<NonFinite>([&] { grad_norm({{"x", x}, {"deep.y", y}}); });
  EXPECT_THAT(message, HasSubstr("deep.y"));
  EXPECT_THAT(message, HasSubstr("nan at (2)"));
}

TEST(Clip, RefusesANormThatIsNotAboveZero) {
  for (double bad : {0., -1., std::nan("")}) EXPECT_THROW(clip_grad_norm({}, bad), ValueError);
  EXPECT_EQ(clip_grad_norm({}, 1), 0);
}

Batch batch_of(std::vector<std::int64_t> targets) {
  const Shape shape{1, static_cast<std::int64_t>(targets.size())};
  return {tokens(std::vector<std::int64_t>(targets.size(), 0), shape),
          tokens(std::move(targets), shape),
          {},
          {}};
}

TEST(Accumulate, OnePartIsTheBatchToTheBit) {
  Tensor table = tensor({.1, .2, .7}, {1, 3}).requires_grad_();
  const auto loss = [&](const Batch& b) {
    return cross_entropy(embedding(table, b.inputs), b.targets);
  };
  const Batch batch = batch_of({0, 2, kIgnore});
  const double mean = accumulate_gradients(
      {{"table", table}}, 1, [&] { return batch; }, loss);
  const std::vector<double> accumulated = table.grad().to_vector();
  table.clear_grad();
  const Tensor whole = loss(batch);
  backward(whole);
  EXPECT_EQ(mean, whole.item());
  EXPECT_EQ(accumulated, table.grad().to_vector());
}

TEST(Accumulate, NoTargetAtAllIsNoLossAndNoGradient) {
  Tensor table = zeros({1, 3}).requires_grad_();
  const auto next = [] { return batch_of({kIgnore}); };
  const auto loss = [&](const Batch& b) {
    return cross_entropy(embedding(table, b.inputs), b.targets);
  };
  EXPECT_EQ(accumulate_gradients({{"table", table}}, 2, next, loss), 0);
  EXPECT_FALSE(table.grad().defined());
}

}  // namespace
}  // namespace heed
