#include <array>

#include "support.h"

namespace heed::layer_tests {
namespace {

struct Pair {
  std::vector<Linear> maps;
  std::array<Tensor, 2> offsets;
  std::optional<LayerNorm> norm;
  Tensor nothing;

  explicit Pair(Rng& rng) : offsets{zeros({1}).requires_grad_(), zeros({2}).requires_grad_()} {
    maps.emplace_back(2, 3, rng);
    maps.emplace_back(3, 1, rng, LinearOptions{.bias = false});
  }
  void visit(Visitor& v) {
    v("maps", maps);
    v("offsets", offsets);
    v("norm", norm);
    v("nothing", nothing);
  }
};

std::vector<std::string> names(const Parameters& list) {
  std::vector<std::string> result;
  for (const NamedTensor& parameter : list) result.push_back(parameter.name);
  return result;
}

/// One weight under two names.
struct Tied {
  Tensor a = tensor({1, 2}, {2}).requires_grad_();
  Tensor b = a;
  Tensor c = tensor({5}, {1}).requires_grad_();
  void visit(Visitor& v) {
    v("a", a);
    v("b", b);
    v("c", c);
  }
};

TEST(Visitor, JoinsNamesThroughVectorsArraysAndOptionals) {
  Rng rng(1);
  Pair pair(rng);
  const std::vector<std::string> without{"maps.0.weight", "maps.0.bias", "maps.1.weight",
                                         "offsets.0", "offsets.1"};
  EXPECT_EQ(names(parameters(pair)), without);
  EXPECT_EQ(count(pair), 2 * 3 + 3 + 3 + 1 + 2);

  pair.norm.emplace(4);
  std::vector<std::string> with = without;
  with.insert(with.end(), {"norm.weight", "norm.bias"});
  EXPECT_EQ(names(parameters(pair)), with);
}

TEST(Visitor, TakesAConstModelAndAVectorOfLayersAsAModel) {
  Rng rng(1);
  const std::vector<Linear> maps{Linear(1, 2, rng), Linear(2, 1, rng)};
  EXPECT_EQ(names(parameters(maps)),
            (std::vector<std::string>{"0.weight", "0.bias", "1.weight", "1.bias"}));
}

TEST(Visitor, RefusesTwoParametersOfOneName) {
  struct Twice {
    Tensor a = ones({1}), b = ones({1});
    void visit(Visitor& v) {
      v("w", a);
      v("w", b);
    }
  };
  EXPECT_EQ(message<ValueError>([&] { named_parameters(Twice{}); }),
            "visit: two parameters are called \"w\"");
}

TEST(Visitor, ListsATiedParameterOnceUnderItsFirstName) {
  const Tied tied;
  EXPECT_EQ(names(named_parameters(tied)), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(names(parameters(tied)), (std::vector<std::string>{"a", "c"}));
  EXPECT_EQ(count(tied), 3);
}

TEST(Visitor, ParametersAreHandlesOnTheModelsOwn) {
  Tied tied;
  Parameters list = parameters(tied);
  list[0].value.mutate<float>()[1] = 7;
  EXPECT_EQ(tied.b.to_vector(), (std::vector<double>{1, 7}));
}

TEST(Visitor, ACopySharesAndACloneDoesNot) {
  Tied tied;
  Tied copy = tied, other = clone(tied);
  tied.a.mutate<float>()[0] = 9;
  EXPECT_EQ(copy.a.to_vector()[0], 9);
  EXPECT_EQ(other.a.to_vector()[0], 1);
  EXPECT_TRUE(other.a.requires_grad());
}

TEST(Visitor, ACloneKeepsTiesAndWhatIsFrozen) {
  Tied tied;
  tied.c.requires_grad_(false);
  Tied other = clone(tied);
  other.a.mutate<float>()[0] = 3;
  EXPECT_EQ(other.b.to_vector()[0], 3);
  EXPECT_EQ(count(other), 3);
  EXPECT_FALSE(other.c.requires_grad());
  EXPECT_TRUE(tied.a.requires_grad());
}

TEST(Visitor, ConvertsInPlaceAndKeepsTies) {
  Tied tied;
  to(tied, f64);
  EXPECT_EQ(tied.a.dtype(), f64);
  EXPECT_EQ(tied.a.to_vector(), (std::vector<double>{1, 2}));
  EXPECT_TRUE(tied.a.requires_grad());
  EXPECT_EQ(count(tied), 3);
  tied.a.mutate<double>()[0] = 3;
  EXPECT_EQ(tied.b.to_vector()[0], 3);
}

TEST(Visitor, ComputesWithOtherParameters) {
  const Tied tied;
  const Tied other = with_parameters(tied, {tensor({7, 8}, {2}), tensor({9}, {1})});
  EXPECT_EQ(other.b.to_vector(), (std::vector<double>{7, 8}));
  EXPECT_EQ(other.c.item(), 9);
  EXPECT_EQ(tied.a.to_vector(), (std::vector<double>{1, 2}));
  EXPECT_THROW(with_parameters(tied, {tensor({7, 8}, {2})}), ShapeError);
  EXPECT_THROW(with_parameters(tied, {tensor({7, 8}, {2}), tensor({9}, {1, 1})}), ShapeError);
}

TEST(Visitor, SummaryNamesShapesTiesAndTotal) {
  EXPECT_EQ(summary(Tied{}),
            "a  (2)                        2\n"
            "b  = a\n"
            "c  (1)                        1\n"
            "3 parameters\n");
}

TEST(Init, NormalIsTheSameInBothTypesAndLeavesVectorsAlone) {
  Rng rng(3), same(3);
  Linear single(20, 30, rng), twice(20, 30, rng);
  to(twice, f64);
  rng.set_state({5, 0});
  same.set_state({5, 0});
  init_normal(single, rng, 0.02);
  init_normal(twice, same, 0.02);
  const std::vector<double> a = single.weight.to_vector(), b = twice.weight.to_vector();
  double squares = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    EXPECT_EQ(a[i], static_cast<double>(static_cast<float>(b[i])));
    squares += b[i] * b[i];
  }
  EXPECT_NEAR(std::sqrt(squares / 600), 0.02, 0.002);
  EXPECT_EQ(twice.bias.to_vector(), std::vector<double>(30, 0));
  scale_(twice.weight, 0.5);
  EXPECT_EQ(twice.weight.to_vector()[7], b[7] / 2);
}

}  // namespace
}  // namespace heed::layer_tests
