#include "support.h"

namespace heed::layer_tests {
namespace {

double std_of(const Tensor& x) {
  double squares = 0;
  for (const double value : x.to_vector()) squares += value * value;
  return std::sqrt(squares / static_cast<double>(x.numel()));
}

TEST(Linear, IsXTimesWPlusB) {
  Rng rng(1);
  Linear layer(2, 3, rng);
  set(layer.weight, {1, 2, 3, 4, 5, 6});
  set(layer.bias, {10, 20, 30});
  expect_near(layer(tensor({1, 10, -1, 0}, {2, 2})), {51, 72, 93, 9, 18, 27}, 1e-6);

  const Linear plain(2, 3, rng, {.bias = false});
  EXPECT_FALSE(plain.bias.defined());
  EXPECT_EQ(plain(zeros({4, 2})).to_vector(), std::vector<double>(12, 0));
}

TEST(Linear, StartsWithUnitGainAndNoBias) {
  Rng rng(1);
  const Linear layer(400, 100, rng);
  EXPECT_NEAR(std_of(layer.weight), 1 / std::sqrt(400.0), 1e-3);
  EXPECT_EQ(layer.bias.to_vector(), std::vector<double>(100, 0));
  EXPECT_NE(layer.weight.to_vector()[0], Linear(400, 100, rng).weight.to_vector()[0]);
}

TEST(Embedding, LooksRowsUpAndRefusesIdsOutside) {
  Rng rng(1);
  Embedding layer(3, 2, rng);
  set(layer.weight, {1, 2, 3, 4, 5, 6});
  const Tensor y = layer(tokens({2, 0, 2}, {1, 3}));
  EXPECT_EQ(y.shape(), (Shape{1, 3, 2}));
  EXPECT_EQ(y.to_vector(), (std::vector<double>{5, 6, 1, 2, 5, 6}));
  EXPECT_THROW(layer(tokens({3}, {1})), IndexError);
}

TEST(Embedding, StartsFromTheStandardNormalDistribution) {
  Rng rng(1);
  EXPECT_NEAR(std_of(Embedding(200, 200, rng).weight), 1, 0.02);
  EXPECT_NEAR(std_of(PositionEmbedding(200, 200, rng).weight), 1, 0.02);
}

TEST(LayerNorm, NormalisesThenScalesAndShifts) {
  LayerNorm layer(4, {.eps = 0});
  const double r = 1 / std::sqrt(1.25);
  const Tensor x = tensor({1, 2, 3, 4}, {1, 4});
  expect_near(layer(x), {-1.5 * r, -.5 * r, .5 * r, 1.5 * r}, 1e-6);
  set(layer.weight, {1, 2, 3, 4});
  set(layer.bias, {10, 20, 30, 40});
  expect_near(layer(x), {10 - 1.5 * r, 20 - r, 30 + 1.5 * r, 40 + 6 * r}, 1e-6);
  layer.eps = 1.25;
  expect_near(layer(x),
              {10 - 1.5 * r / std::sqrt(2), 20 - r / std::sqrt(2), 30 + 1.5 * r / std::sqrt(2),
               40 + 6 * r / std::sqrt(2)},
              1e-6);
}

TEST(Dropout, DropsInTrainingOnly) {
  const Dropout layer{0.5};
  const Tensor x = ones({1000});
  EXPECT_EQ(layer(x).to_vector(), x.to_vector());
  Rng rng(1);
  {
    Training scope(rng);
    const std::vector<double> y = layer(x).to_vector();
    const auto kept = std::ranges::count(y, 2.0);
    EXPECT_EQ(kept + std::ranges::count(y, 0.0), 1000);
    EXPECT_NEAR(static_cast<double>(kept), 500, 60);
  }
  EXPECT_EQ(layer(x).to_vector(), x.to_vector());
}

TEST(Mlp, AppliesEachActivationBetweenItsMaps) {
  Rng rng(1);
  Mlp layer(1, 2, rng);
  set(layer.up.weight, {1, -1});
  set(layer.up.bias, {0.5, 0});
  set(layer.down.weight, {1, 10});
  set(layer.down.bias, {100});
  const double a = 2.5, b = -2;  // what stands before the activation for x = 2
  const auto silu = [](double x) { return x / (1 + std::exp(-x)); };
  const auto erf = [](double x) { return x * 0.5 * (1 + std::erf(x / std::sqrt(2.0))); };
  const auto tanh = [](double x) {
    return x * 0.5 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  };
  const Tensor x = tensor({2}, {1, 1});
  expect_near(layer(x), {100 + erf(a) + 10 * erf(b)}, 1e-6);
  layer.activation = Activation::gelu_tanh;
  expect_near(layer(x), {100 + tanh(a) + 10 * tanh(b)}, 1e-6);
  layer.activation = Activation::relu;
  expect_near(layer(x), {100 + a}, 1e-6);
  layer.activation = Activation::silu;
  expect_near(layer(x), {100 + silu(a) + 10 * silu(b)}, 1e-6);
}

TEST(Mlp, SwigluIsGatedByAThirdMap) {
  Rng rng(1);
  Mlp layer(1, 2, rng, Activation::swiglu);
  set(layer.gate->weight, {2, 3});
  set(layer.gate->bias, {0.5, -1});
  set(layer.up.weight, {1, -1});
  set(layer.up.bias, {0, 0.25});
  set(layer.down.weight, {1, 10});
  set(layer.down.bias, {100});
  const auto silu = [](double x) { return x / (1 + std::exp(-x)); };
  expect_near(layer(tensor({2}, {1, 1})), {100 + silu(4.5) * 2 + 10 * silu(5) * -1.75}, 1e-6);
  EXPECT_FALSE(Mlp(1, 2, rng).gate);
}

TEST(Mlp, NoneIsNoMlp) {
  Rng rng(1);
  EXPECT_THAT(message<ValueError>([&] { Mlp(1, 2, rng, Activation::none); }),
              testing::HasSubstr("activation = none"));
  for (const Activation activation : {Activation::swiglu, Activation::none})
    EXPECT_THAT(message<ValueError>([&] { activate(ones({1}), activation); }),
                testing::HasSubstr(std::string(name(activation))));
}

TEST(Mlp, ActivationsHaveNames) {
  std::vector<std::string_view> names;
  for (const Activation activation : kActivations) names.push_back(name(activation));
  EXPECT_EQ(names,
            (std::vector<std::string_view>{"gelu", "gelu_tanh", "relu", "silu", "swiglu", "none"}));
}

TEST(Choices, AreFoundByTheirNames) {
  for (const Activation each : kActivations)
    EXPECT_EQ(named("activation", name(each), kActivations), each);
  for (const Positions each : kPositions)
    EXPECT_EQ(named("positions", name(each), kPositions), each);
  for (const NormPlace each : kNormPlaces) EXPECT_EQ(named("norm", name(each), kNormPlaces), each);
  for (const NormKind each : kNormKinds) EXPECT_EQ(named("kind", name(each), kNormKinds), each);
  EXPECT_EQ(message<ValueError>([] { named("norm", "front", kNormPlaces); }),
            "norm = front: it must be pre, post or none");
}

TEST(RmsNorm, DividesByTheRootOfTheMeanSquare) {
  RmsNorm layer(4, {.eps = 0});
  const double r = 1 / std::sqrt(7.5);
  const Tensor x = tensor({1, 2, 3, 4}, {1, 4});
  expect_near(layer(x), {r, 2 * r, 3 * r, 4 * r}, 1e-6);
  set(layer.weight, {4, 3, 2, 1});
  expect_near(layer(x), {4 * r, 6 * r, 6 * r, 4 * r}, 1e-6);
  layer.eps = 7.5;
  expect_near(
      layer(x),
      {4 * r / std::sqrt(2), 6 * r / std::sqrt(2), 6 * r / std::sqrt(2), 4 * r / std::sqrt(2)},
      1e-6);
  EXPECT_EQ(RmsNorm(2).eps, 1e-6);
}

TEST(Norm, IsTheOneThatIsAskedFor) {
  const Tensor x = tensor({1, 2, 3, 5}, {1, 4}, f64);
  const auto of = [](NormOptions options) {
    Norm norm(4, options);
    to(norm, f64);
    return norm;
  };
  expect_near(of({.eps = 0.5})(x), layer_norm(x, {}, {}, 0.5).to_vector(), 1e-12);
  expect_near(of({.kind = NormKind::rms, .eps = 0.5})(x), rms_norm(x, {}, 0.5).to_vector(), 1e-12);
  EXPECT_EQ(of({.off = true})(x).to_vector(), x.to_vector());
  EXPECT_EQ(count(of({})), 8);
  EXPECT_EQ(count(of({.kind = NormKind::rms})), 4);
  EXPECT_EQ(count(of({.off = true})), 0);
}

TEST(SinusoidalPositions, AreTheWavesOfThePaper) {
  const Tensor waves = sinusoidal_positions(2, 5, 3, f64);
  std::vector<double> expected;
  for (const double t : {3.0, 4.0})
    for (const int c : {0, 1, 2, 3, 4}) {
      const double angle = t / std::pow(10000, (c - c % 2) / 5.0);
      expected.push_back(c % 2 ? std::cos(angle) : std::sin(angle));
    }
  EXPECT_EQ(waves.shape(), (Shape{2, 5}));
  expect_near(waves, expected, 1e-14);
  EXPECT_EQ(sinusoidal_positions(0, 4).shape(), (Shape{0, 4}));
}

TEST(PositionEmbedding, GivesTheFirstRowsAndSaysWhereItEnds) {
  Rng rng(1);
  PositionEmbedding layer(3, 2, rng);
  set(layer.weight, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(layer(2).to_vector(), (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(layer(3).shape(), (Shape{3, 2}));
  EXPECT_THAT(message<IndexError>([&] { layer(4); }), testing::HasSubstr("context 3, got 4"));
  EXPECT_EQ(layer(1, 1).to_vector(), (std::vector<double>{3, 4}));
  EXPECT_EQ(layer(2, 1).to_vector(), (std::vector<double>{3, 4, 5, 6}));
  EXPECT_THAT(message<IndexError>([&] { layer(2, 2); }),
              testing::HasSubstr("context 3, got 2 positions from 2 on"));
  EXPECT_THROW(layer(1, -1), IndexError);
  EXPECT_THROW(layer(-1), IndexError);
}

}  // namespace
}  // namespace heed::layer_tests
