// What optimizers share, groups of parameters, and the average of the weights.
#include <gmock/gmock.h>
#include <heed/autograd/autograd.h>
#include <heed/train/train.h>

#include <cmath>

#include "optimizer_support.h"
#include "support.h"

namespace heed {
namespace {

using testing::HasSubstr;

// ---- what all share

TEST(Optimizers, RefuseOptionsOutsideTheirRange) {
  const Parameters none;
  EXPECT_THROW(Rmsprop(none, {.alpha = 1}), ValueError);
  EXPECT_THROW(Rmsprop(none, {.momentum = -1}), ValueError);
  EXPECT_THROW(Rmsprop(none, {.eps = -1}), ValueError);
  EXPECT_THROW(Lion(none, {.beta1 = 1}), ValueError);
  EXPECT_THROW(Lion(none, {.beta2 = -1}), ValueError);
  EXPECT_THROW(Muon(none, {.momentum = 1}), ValueError);
  EXPECT_THROW(Muon(none, {.iterations = 0}), ValueError);
  EXPECT_THAT(
      message_of<ValueError>([&] { Sgd(none, {.groups = {{.holds = decay_all, .lr = -1}}}); }),
      HasSubstr("lr of a group = -1"));
  EXPECT_THROW(Sgd(none, {.groups = {{.holds = decay_all, .weight_decay = -1}}}), ValueError);
}

TEST(Optimizers, StatesRestoreEveryOneOfThem) {
  const auto check = [](auto make, std::size_t kept) {
    Tensor p = leaf(wave(4, 1), {2, 2}), q = leaf(wave(4, 1), {2, 2});
    auto first = make(Parameters{{"x", p}}), second = make(Parameters{{"x", q}});
    for (int t = 0; t < 3; ++t) {
      give_gradient(p, wave(4, t));
      first.step();
    }
    EXPECT_EQ(first.state().size(), 1 + kept);
    copy_parameters(first.state(), second.state(), "the first");
    copy_parameters({{"x", p}}, {{"x", q}}, "the first");
    for (Tensor* x : {&p, &q}) give_gradient(*x, wave(4, 7));
    first.step();
    second.step();
    EXPECT_EQ(p.to_vector(), q.to_vector());
  };
  check([](Parameters p) { return Rmsprop(p, {.lr = .1, .momentum = .9, .centered = true}); }, 3);
  check([](Parameters p) { return Lion(p, {.lr = .1}); }, 1);
  check([](Parameters p) { return Muon(p, {.lr = .1}); }, 1);
}

TEST(Optimizers, ChangesOfTheNewOnesCountAsChangesInPlace) {
  Tensor p = leaf(wave(4, 1), {2, 2});
  Rmsprop rmsprop({{"p", p}}, {.lr = .1});
  Lion lion({{"p", p}}, {.lr = .1});
  Muon muon({{"p", p}}, {.lr = .1});
  for (Optimizer* optimizer : std::initializer_list<Optimizer*>{&rmsprop, &lion, &muon}) {
    const Tensor y = sum(p * p);
    give_gradient(p, wave(4, 2));
    optimizer->step();
    EXPECT_THROW(backward(y), GraphError);
    optimizer->zero_grad();
  }
}

// ---- groups

TEST(ParameterGroups, TheFirstThatHoldsAParameterIsItsOwn) {
  Tensor bias = leaf({1}, {1}), weight = leaf({1}, {1, 1}), other = leaf({1}, {1, 1});
  Sgd optimizer(
      {{"head.bias", bias}, {"head.weight", weight}, {"other", other}},
      {.lr = .1, .weight_decay = .5, .groups = parse_groups("*.bias lr=2; head.* decay=1")});
  for (Tensor* x : {&bias, &weight, &other}) give_gradient(*x, {1});
  optimizer.step();
  EXPECT_DOUBLE_EQ(bias.item(), 1 - .2) << "twice the rate, and no decay as before";
  EXPECT_DOUBLE_EQ(weight.item(), 1 - .1 * (1 + 1)) << "the group's decay";
  EXPECT_DOUBLE_EQ(other.item(), 1 - .1 * (1 + .5));
  optimizer.set_lr(.2);
  give_gradient(bias, {1});
  optimizer.step();
  EXPECT_DOUBLE_EQ(bias.item(), .8 - .4) << "a schedule moves all groups";
}

TEST(ParameterGroups, SayWhatIsWrongWithThem) {
  EXPECT_TRUE(parse_groups("").empty());
  EXPECT_TRUE(parse_groups(" ; ").empty());
  const auto refused = [](const std::string& written, const std::string& reason) {
    EXPECT_THAT(message_of<ValueError>([&] { parse_groups(written); }), HasSubstr(reason));
  };
  refused("*.bias", "says nothing");
  refused("lr=2 decay=1", "has no pattern");
  refused("* lr", "\"lr\" has no =");
  refused("* lr=x", "\"x\" is no finite number");
  refused("* lr=-1", "\"-1\" is no finite number");
  refused("* lr=inf", "\"inf\" is no finite number");
  refused("* lr=1 momentum=2", "\"momentum\" is neither lr nor decay");
  refused("a lr=1; b", "\" b\"");
  refused("* lr=1 lr=2", "\"lr\" is given twice");
  refused("* decay=1 lr=2 decay=1", "\"decay\" is given twice");
}

TEST(ParameterGroups, HoldSomethingThatNoEarlierOneHolds) {
  const auto refused = [](const ParameterGroups& groups) {
    const Tensor x = leaf({1}, {1});
    return message_of<ValueError>([&] { Sgd({{"head.bias", x}}, {.groups = groups}); });
  };
  EXPECT_EQ(refused(parse_groups("*.bias lr=2; *.baias lr=0")),
            "sgd: groups = \"*.baias\" holds no parameter");
  EXPECT_EQ(refused(parse_groups("*.bias lr=2; head.* lr=0")),
            "sgd: all that groups = \"head.*\" holds belongs to groups before it");
  EXPECT_EQ(refused({{.holds = decay_matrices}}), "sgd: group 1 holds no parameter");
}

TEST(ParameterGroups, RulesMayNotBeEmpty) {
  const Parameters one{{"x", leaf({1}, {1, 1})}};
  EXPECT_EQ(message_of<ValueError>([&] { Sgd(one, {.groups = {{}}}); }),
            "sgd: the holds of group 1 is an empty function");
  EXPECT_EQ(message_of<ValueError>([&] { Lion(one, {.decays = nullptr}); }),
            "lion: decays is an empty function");
  EXPECT_EQ(message_of<ValueError>([&] { Muon(one, {.matrices = nullptr}); }),
            "muon: matrices is an empty function");
}

TEST(ParameterGroups, DecayRuleOfWeightsSparesEmbeddings) {
  EXPECT_TRUE(decay_weights({"mlp.up.weight", zeros({2, 2})}));
  EXPECT_FALSE(decay_weights({"token_embedding.weight", zeros({2, 2})}));
  EXPECT_FALSE(decay_weights({"mlp.up.bias", zeros({2})}));
}

// ---- the average

TEST(WeightAverage, IsTheWeightedMeanOfAllItHasSeen) {
  for (const DType dtype : {f64, f32}) {
    Tensor p = leaf({0, 0}, {2}, dtype);
    WeightAverage average({{"p", p}}, .9);
    double sum = 0, weights = 0;
    for (int t = 1; t <= 5; ++t) {
      give_gradient(p, {-1. * t, 0});
      Sgd({{"p", p}}, {.lr = 1}).step();
      average.update();
      sum = .9 * sum + p.to_vector()[0];
      weights = .9 * weights + 1;
      const std::vector<double> now = p.to_vector();
      {
        const Averaged scope(&average);
        EXPECT_NEAR(p.to_vector()[0], sum / weights, dtype == f64 ? 1e-12 : 1e-5) << t;
      }
      EXPECT_EQ(p.to_vector(), now);
    }
  }
}

TEST(WeightAverage, BeforeAndAfterTheFirstStepIsTheParameters) {
  Tensor p = leaf({3, 4}, {2}, f32);
  WeightAverage average({{"p", p}}, .999);
  average.swap();
  EXPECT_EQ(p.to_vector(), (std::vector<double>{3, 4}));
  average.swap();
  Sgd sgd({{"p", p}}, {.lr = .7});
  give_gradient(p, {.3, .1});
  sgd.step();
  const std::vector<double> after = p.to_vector();
  average.update();
  average.swap();
  EXPECT_EQ(p.to_vector(), after);
}

TEST(WeightAverage, OfWhatStaysIsItsValueHoweverLong) {
  Tensor p = leaf({.1, 1, -3.3, 700}, {4}, f32);
  const std::vector<double> weights = p.to_vector();
  WeightAverage average({{"p", p}}, .9999);
  for (int t = 0; t < 20'000; ++t) average.update();
  average.swap();
  EXPECT_EQ(p.to_vector(), weights);
}

TEST(WeightAverage, StateRestoresIt) {
  Tensor p = leaf({1}, {1}), q = leaf({1}, {1});
  WeightAverage first({{"p", p}}, .5), second({{"p", q}}, .5);
  for (int t = 0; t < 3; ++t) {
    p.mutate<double>()[0] += t + 1;
    first.update();
  }
  copy_parameters(first.state(), second.state(), "the first");
  q.mutate<double>()[0] = p.item();
  for (WeightAverage* each : {&first, &second}) each->update();
  first.swap();
  second.swap();
  EXPECT_EQ(p.item(), q.item());
  EXPECT_THROW(WeightAverage({}, 1), ValueError);
  EXPECT_THROW(WeightAverage({}, std::nan("")), ValueError);
}

TEST(WeightAverage, CountsAsAChangeInPlace) {
  Tensor p = leaf({1}, {1});
  WeightAverage average({{"p", p}}, .5);
  const Tensor y = sum(p * p);
  average.swap();
  EXPECT_THROW(backward(y), GraphError);
}

}  // namespace
}  // namespace heed
