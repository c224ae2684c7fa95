#include <gmock/gmock.h>
#include <heed/autograd/autograd.h>
#include <heed/train/train.h>

#include "optimizer_support.h"
#include "support.h"

namespace heed {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

/// Four steps from [[1, -2], [.5, 3]] with gradients that change in size and sign.
template <class Make>
std::vector<double> four_steps(Make&& make, DType dtype = f64) {
  Tensor p = leaf({1, -2, .5, 3}, {2, 2}, dtype);
  auto optimizer = make(Parameters{{"p", p}});
  for (int t = 0; t < 4; ++t) {
    const double c = (t % 2 ? -1 : 1) * (t + 1);
    give_gradient(p, {.1 * c, -.2 * c, .3 * c, .05 * c});
    optimizer.step();
  }
  return p.to_vector();
}

void expect_near(const std::vector<double>& found, const std::vector<double>& right,
                 double tolerance) {
  ASSERT_EQ(found.size(), right.size());
  for (std::size_t i = 0; i < right.size(); ++i)
    EXPECT_NEAR(found[i], right[i], tolerance * std::abs(right[i])) << "element " << i;
}

// The values are those of PyTorch 1.13 in f64.
struct Golden {
  SgdOptions options;
  std::vector<double> values;
};

TEST(Sgd, AgreesWithPyTorch) {
  const std::vector<Golden> all{
      {{.lr = .1}, {1.02, -2.04, .56, 3.01}},
      {{.lr = .1, .weight_decay = .1}, {.98079502, -1.96159004, .540895035, 2.891887535}},
      {{.lr = .1, .momentum = .9, .dampening = .3, .weight_decay = .1},
       {.91925876386, -1.83851752772, .439765873005, 2.7776398005}},
      {{.lr = .1, .momentum = .9, .nesterov = true, .weight_decay = .1},
       {.905533081042, -1.81106616208, .511711863074, 2.65765392057}}};
  for (const auto& [options, values] : all) {
    const auto make = [&o = options](Parameters p) { return Sgd(std::move(p), o); };
    expect_near(four_steps(make), values, 1e-9);
    expect_near(four_steps(make, f32), values, 1e-5);
  }
}

TEST(Adam, AgreesWithPyTorch) {
  const std::vector<double> values{.813172968449, -1.80824012974, .413211668901, 2.62670531774};
  const auto make = [](Parameters p) {
    return Adam(std::move(p),
                {.lr = .1, .beta1 = .8, .beta2 = .95, .eps = 1e-6, .weight_decay = .1});
  };
  expect_near(four_steps(make), values, 1e-9);
  expect_near(four_steps(make, f32), values, 1e-5);
}

TEST(AdamW, AgreesWithPyTorch) {
  const std::vector<double> values{.895494795112, -1.85609041379, .415196268354, 2.81668759773};
  const auto make = [](Parameters p) {
    return AdamW(std::move(p),
                 {.lr = .1, .beta1 = .8, .beta2 = .95, .eps = 1e-6, .weight_decay = .1});
  };
  expect_near(four_steps(make), values, 1e-9);
  expect_near(four_steps(make, f32), values, 1e-5);
}

TEST(AdamW, DecaysByOneHundredthUnlessTold) {
  Tensor p = leaf({1}, {1, 1});
  AdamW optimizer({{"p", p}}, {.lr = .1});
  give_gradient(p, {0});
  optimizer.step();
  EXPECT_DOUBLE_EQ(p.item(), 1 - .1 * .01);
}

TEST(Optimizer, UpdatesEveryElementOfALongParameter) {
  Tensor p = leaf(std::vector<double>(1003, 1), {1003}, f32);
  Adam optimizer({{"p", p}}, {.lr = .1});
  give_gradient(p, std::vector<double>(1003, 2));
  optimizer.step();
  for (double value : p.to_vector()) ASSERT_NEAR(value, .9, 1e-6);
}

TEST(Optimizer, LeavesAParameterWithoutGradientAlone) {
  Tensor used = leaf({1}, {1, 1}), unused = leaf({1}, {1, 1});
  Adam optimizer({{"used", used}, {"unused", unused}}, {.lr = .1, .weight_decay = .1});
  for (int i = 0; i < 2; ++i) {
    give_gradient(used, {.5});
    optimizer.step();
  }
  EXPECT_NEAR(used.item(), .8, 1e-3);
  EXPECT_EQ(unused.item(), 1);
  give_gradient(unused, {.5});
  optimizer.step();
  EXPECT_NEAR(unused.item(), .9, 1e-7) << "its first step is corrected as a first step";
}

TEST(Optimizer, DecaysWhatTheRuleSays) {
  Tensor weight = leaf({1}, {1, 1}), bias = leaf({1}, {1});
  const auto after_a_step = [&](DecayRule rule) {
    for (Tensor* x : {&weight, &bias}) x->mutate<double>()[0] = 1;
    Sgd optimizer({{"weight", weight}, {"bias", bias}},
                  {.lr = .1, .weight_decay = .5, .decays = std::move(rule)});
    give_gradient(weight, {0});
    give_gradient(bias, {0});
    optimizer.step();
    return std::vector{weight.item(), bias.item()};
  };
  EXPECT_THAT(after_a_step(decay_matrices), ElementsAre(.95, 1));
  EXPECT_THAT(after_a_step(decay_all), ElementsAre(.95, .95));
  EXPECT_THAT(after_a_step([](const NamedTensor& p) { return p.name == "bias"; }),
              ElementsAre(1, .95));
}

TEST(Optimizer, ForgetsGradients) {
  Tensor p = leaf({1}, {1});
  Sgd optimizer({{"p", p}});
  give_gradient(p, {1});
  optimizer.zero_grad();
  EXPECT_FALSE(p.grad().defined());
}

TEST(Optimizer, StepsAtTheRateItIsGiven) {
  Tensor p = leaf({1}, {1});
  Sgd optimizer({{"p", p}}, {.lr = .5});
  EXPECT_EQ(optimizer.lr(), .5);
  optimizer.set_lr(.25);
  give_gradient(p, {1});
  optimizer.step();
  EXPECT_EQ(p.item(), .75);
  EXPECT_THROW(optimizer.set_lr(-1), ValueError);
  EXPECT_THROW(optimizer.set_lr(infinity), ValueError);
}

TEST(Optimizer, ChangesParametersSoThatAKeptGraphIsRefused) {
  Tensor p = leaf({2}, {1});
  Sgd sgd({{"p", p}}, {.lr = .5});
  Sgd with_momentum({{"p", p}}, {.lr = .5, .momentum = .9});
  Adam adam({{"p", p}}, {.lr = .5});
  AdamW adam_w({{"p", p}}, {.lr = .5});
  for (Optimizer* optimizer :
       std::initializer_list<Optimizer*>{&sgd, &with_momentum, &adam, &adam_w}) {
    const Tensor y = sum(p * p);
    give_gradient(p, {1});
    optimizer->step();
    EXPECT_THROW(backward(y), GraphError);
    optimizer->zero_grad();
  }
}

TEST(Optimizer, StateIsAllThereIsToRemember) {
  Tensor p = leaf({1, 2}, {2}), q = leaf({1, 2}, {2});
  const auto one_step = [](Optimizer& optimizer, Tensor& x, double g) {
    give_gradient(x, {g, -g});
    optimizer.step();
  };
  Adam first({{"x", p}}, {.lr = .1}), second({{"x", q}}, {.lr = .1});
  one_step(first, p, .5);
  one_step(first, p, 3);

  const Parameters from = first.state(), to = second.state();
  ASSERT_EQ(from.size(), 3u);
  EXPECT_EQ(from[0].name, "x.steps");
  EXPECT_EQ(from[1].name, "x.exp_avg");
  EXPECT_EQ(from[2].name, "x.exp_avg_sq");
  EXPECT_EQ(from[0].value.item(), 2);
  copy_parameters(from, to, "the first");
  copy_parameters({{"x", p}}, {{"x", q}}, "the first");
  one_step(first, p, -.25);
  one_step(second, q, -.25);
  EXPECT_EQ(p.to_vector(), q.to_vector());
}

TEST(Optimizer, TakesASharedStorageOnce) {
  Tensor p = leaf({1}, {1});
  Sgd optimizer({{"first", p}, {"second", p}}, {.lr = .1, .momentum = .5});
  ASSERT_EQ(optimizer.parameters().size(), 1u);
  EXPECT_EQ(optimizer.parameters()[0].name, "first");
  EXPECT_EQ(optimizer.state().size(), 2u);
}

TEST(Optimizer, RefusesSharedValuesWithGradientsApart) {
  Tensor p = leaf({1}, {1});
  Tensor q = p.detach().requires_grad_();
  const std::string message = message_of<GraphError>([&] { Sgd({{"first", p}, {"second", q}}); });
  EXPECT_THAT(message, HasSubstr("first"));
  EXPECT_THAT(message, HasSubstr("second"));
}

TEST(Optimizer, RefusesOptionsOutsideTheirRange) {
  const Parameters none;
  EXPECT_THROW(Sgd(none, {.lr = -1}), ValueError);
  EXPECT_THROW(Sgd(none, {.momentum = 1}), ValueError);
  EXPECT_THROW(Sgd(none, {.dampening = -.1}), ValueError);
  EXPECT_THROW(Sgd(none, {.nesterov = true}), ValueError);
  EXPECT_THROW(Sgd(none, {.weight_decay = -.1}), ValueError);
  EXPECT_THROW(Adam(none, {.lr = std::nan("")}), ValueError);
  EXPECT_THROW(Adam(none, {.beta1 = 1}), ValueError);
  EXPECT_THROW(AdamW(none, {.beta2 = -1}), ValueError);
  EXPECT_THAT(message_of<ValueError>([&] { AdamW(none, {.eps = -1}); }),
              HasSubstr("adamw: eps = -1"));
}

TEST(Optimizers, RefuseWhatCollectsNoGradient) {
  const auto message = [](const Tensor& x) {
    return message_of<GraphError>([&] { AdamW({{"w", x}}, {}); });
  };
  EXPECT_THAT(message(zeros({2})), AllOf(HasSubstr("w collects"), HasSubstr("a constant")));
  EXPECT_THAT(message(leaf({1, 2}, {2}) * 2),
              AllOf(HasSubstr("w collects"), HasSubstr("output of an op")));
}

}  // namespace
}  // namespace heed
