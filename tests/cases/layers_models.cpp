// Cases of whole models and of their parameters.

#include "../layers/support.h"

namespace heed::layer_tests {
namespace {

constexpr TransformerConfig kTiny{
    .vocabulary = 5, .context = 8, .layers = 2, .heads = 2, .d_model = 8};

Tokens random_tokens(Shape shape, std::int64_t vocabulary, Rng& rng) {
  std::vector<std::int64_t> ids(static_cast<std::size_t>(shape.numel()));
  for (std::int64_t& id : ids) id = rng.integer(vocabulary);
  return Tokens(ids, shape);
}

/// `ids` with another token at one place of its first row.
Tokens changed(const Tokens& ids, std::int64_t place, std::int64_t vocabulary) {
  std::vector<std::int64_t> other = ids.to_vector();
  std::int64_t& id = other[static_cast<std::size_t>(place)];
  id = (id + 1) % vocabulary;
  return Tokens(other, ids.shape());
}

/// One step of gradient descent on `loss`: each parameter has a gradient and new bytes.
template <class Model>
void expect_all_move(const Model& model, const Tensor& loss, const std::string& what) {
  std::vector<std::vector<std::byte>> before;
  for (const Tensor& parameter : tensors(model)) before.push_back(bytes(parameter));
  backward(loss);
  for (const auto& [name, value] : parameters(model)) {
    ASSERT_TRUE(value.grad().defined()) << what << ": " << name;
    EXPECT_GT(norm(value.grad()).item(), 0) << what << ": " << name;
  }
  descend(parameters(model), 0.1);
  std::size_t i = 0;
  for (const auto& [name, value] : parameters(model))
    EXPECT_NE(bytes(value), before[i++]) << what << ": " << name;
}

TEST(Cases, G08_EveryParameterOfEveryLayerMoves) {
  Rng rng(1);
  const Tensor x = normal({2, 3, 8}, rng);
  const Tokens ids = random_tokens({2, 6}, 5, rng), targets = random_tokens({2, 6}, 5, rng);

  const auto check = [&](const auto& layer, const auto& input, const std::string& what) {
    expect_all_move(layer, probe(layer(input)), what);
  };
  check(Linear(8, 4, rng), x, "Linear");
  check(Embedding(5, 4, rng), ids, "Embedding");
  check(PositionEmbedding(8, 4, rng), std::int64_t{6}, "PositionEmbedding");
  check(LayerNorm(8), x, "LayerNorm");
  check(RmsNorm(8), x, "RmsNorm");
  for (const NormKind kind : kNormKinds) check(Norm(8, {.kind = kind}), x, "Norm");
  for (const Activation activation : kActivations)
    if (activation != Activation::none)
      check(Mlp(8, 16, rng, activation), x, std::string("Mlp ") += name(activation));
  check(TransformerBlock(kTiny, rng), x, "TransformerBlock");

  for (const bool composed : {false, true}) {
    const std::string path = composed ? "composed" : "fused";
    const auto attend = [&](const std::string& what, AttentionConfig config, auto call) {
      const MultiHeadAttention layer(8, 2, rng, config);
      Recorder recorder(layer);
      if (composed) recorder.replace("weights", [](const Tensor& w) { return w; });
      expect_all_move(layer, probe(call(layer)), path + what);
    };
    attend(" self-attention", {.causal = true}, [&](const auto& m) { return m(x); });
    attend(" cross-attention", {}, [&](const auto& m) { return m(x, slice(x, 1, 0, 2)); });

    for (const bool tied : {false, true}) {
      TransformerConfig config = kTiny;
      config.tied_embedding = tied;
      const Transformer model(config, rng);
      Recorder recorder(model);
      if (composed)
        for (const char* block : {"blocks.0", "blocks.1"})
          recorder.replace(std::string(block) + ".attention.weights",
                           [](const Tensor& w) { return w; });
      expect_all_move(model, cross_entropy(model(ids), targets),
                      path + (tied ? " tied Transformer" : " Transformer"));
    }
  }
}

TEST(Cases, L03_NothingLeaksFromLaterTokens) {
  Rng rng(2);
  Transformer model(kTiny, rng);
  stir(model, rng);
  const Tokens ids = random_tokens({2, 8}, 5, rng);
  const Tensor y = model(ids);
  for (std::int64_t j = 0; j < 8; ++j) {
    const Tensor other = model(changed(ids, j, 5));
    EXPECT_EQ(bytes(slice(y, 1, 0, j)), bytes(slice(other, 1, 0, j))) << "token " << j;
    EXPECT_NE(bytes(slice(y, 1, j, j + 1)), bytes(slice(other, 1, j, j + 1))) << "token " << j;
  }
}

/// Mean loss of next-token prediction on tokens that were never trained on.
double loss_on_random_tokens(bool causal) {
  Rng rng(3);
  TransformerConfig config = kTiny;
  config.layers = 1;
  config.causal = causal;
  Transformer model(config, rng);
  stir(model, rng);
  const auto loss = [&](std::int64_t rows) {
    const Tokens ids = random_tokens({rows, 9}, 5, rng);
    const std::vector<std::int64_t> flat = ids.to_vector();
    std::vector<std::int64_t> inputs, targets;
    for (std::size_t n = 0; n < flat.size(); ++n) {
      if (n % 9 != 8) inputs.push_back(flat[n]);
      if (n % 9 != 0) targets.push_back(flat[n]);
    }
    return cross_entropy(model(Tokens(inputs, {rows, 8})), Tokens(targets, {rows, 8}));
  };
  for (int step = 0; step < 400; ++step) {
    backward(loss(16));
    descend(parameters(model), 0.3);
  }
  NoGrad quiet;
  return loss(1000).item();
}

TEST(Cases, L03_RandomTokensCannotBePredictedUnlessLaterOnesAreSeen) {
  EXPECT_GT(loss_on_random_tokens(true), std::log(5.0) - 0.01);
  EXPECT_LT(loss_on_random_tokens(false), std::log(5.0) / 2);
}

TEST(Cases, L08_ThePromptIsLongerThanTheContext) {
  Rng rng(1);
  const Transformer model(kTiny, rng);
  EXPECT_EQ(model(random_tokens({1, 8}, 5, rng)).shape(), (Shape{1, 8, 5}));
  EXPECT_THAT(message<IndexError>([&] {
                model(random_tokens({1, 9}, 5, rng));
              }),
              testing::HasSubstr("context 8, got 9"));
}

TEST(Cases, L10_DropoutGoesOnAndOff) {
  Rng rng(1);
  const Tensor x = normal({4, 5}, rng).requires_grad_();
  const Dropout all{1}, some{0.5};
  for (int round = 0; round < 2; ++round) {
    {
      Training scope(rng);
      const Tensor y = all(x);
      EXPECT_EQ(y.to_vector(), std::vector<double>(20, 0));
      EXPECT_EQ(grad(probe(y), x).to_vector(), std::vector<double>(20, 0));
      EXPECT_NE(bytes(some(x)), bytes(x));
    }
    EXPECT_EQ(bytes(all(x)), bytes(x));
    EXPECT_EQ(bytes(some(x)), bytes(x));
  }
}

/// One shared weight under two names.
struct Shared {
  Tensor a = tensor({1}, {1}).requires_grad_();
  Tensor b = a;

  Tensor loss() const { return sum(2.0 * a + 3.0 * b); }
  void visit(Visitor& v) {
    v("a", a);
    v("b", b);
  }
};

TEST(Cases, L15_TiedParametersAreOne) {
  const Shared model;
  EXPECT_EQ(count(model), 1);
  ASSERT_EQ(parameters(model).size(), 1u);
  EXPECT_EQ(named_parameters(model).size(), 2u);

  const Shared other = clone(model);
  for (const Shared* each : {&model, &other}) {
    backward(each->loss());
    descend(parameters(*each), 0.1);
    EXPECT_EQ(each->a.item(), .5);
    EXPECT_EQ(each->b.item(), .5);
  }
}

TEST(Cases, L17_AnUntrainedModelKnowsNothing) {
  Rng rng(1);
  for (const std::int64_t d_model : {32, 128, 512})
    for (const bool tied : {false, true}) {
      const Transformer model({.vocabulary = 65,
                               .context = 32,
                               .layers = 2,
                               .heads = 4,
                               .d_model = d_model,
                               .tied_embedding = tied},
                              rng);
      NoGrad quiet;
      const Tokens ids = random_tokens({4, 32}, 65, rng), targets = random_tokens({4, 32}, 65, rng);
      EXPECT_NEAR(cross_entropy(model(ids), targets).item(), 4.17439, .2)
          << "d_model " << d_model << (tied ? ", tied" : "");
    }
}

TEST(Cases, L17_AVocabularyOfOneLeavesNothingToLearn) {
  Rng rng(1);
  TransformerConfig config = kTiny;
  config.vocabulary = 1;
  const Transformer model(config, rng);
  const Tokens ids({0, 0, 0, 0}, {1, 4});
  const Tensor loss = cross_entropy(model(ids), ids);
  EXPECT_EQ(loss.item(), 0);
  for (const Tensor& g : grad(loss, tensors(model)))
    EXPECT_EQ(g.to_vector(), std::vector<double>(static_cast<std::size_t>(g.numel()), 0));
}

}  // namespace
}  // namespace heed::layer_tests
