#include "support.h"

namespace heed::layer_tests {
namespace {

constexpr TransformerConfig kTiny{
    .vocabulary = 7, .context = 6, .layers = 2, .heads = 2, .d_model = 8, .d_ff = 12};

Tokens some_tokens() { return tokens({3, 0, 6, 2, 5, 5, 1, 4, 3, 0}, {2, 5}); }

Transformer stirred(TransformerConfig config, DType dtype = f64) {
  Rng rng(21);
  Transformer model(config, rng);
  to(model, dtype);
  stir(model, rng);
  return model;
}

/// The wiring, written out again with the parts, each of which has tests of its own.
Tensor by_parts(const Transformer& m, const Tokens& ids, const Mask& hidden = {}) {
  Tensor x = embedding(m.token_embedding.weight, ids) +
             slice(m.position_embedding->weight, 0, 0, ids.dim(1));
  for (const TransformerBlock& b : m.blocks) {
    x = x + b.attention(layer_norm(x, b.norm1.weight, b.norm1.bias), padding_mask(hidden));
    const Tensor h =
        linear(layer_norm(x, b.norm2->weight, b.norm2->bias), b.mlp->up.weight, b.mlp->up.bias);
    x = x + linear(gelu(h), b.mlp->down.weight, b.mlp->down.bias);
  }
  x = layer_norm(x, m.final_norm.weight, m.final_norm.bias);
  return matmul(x, m.head ? m.head->weight : transpose(m.token_embedding.weight));
}

TEST(Transformer, IsWiredAsDocumented) {
  const Mask padding =
      mask({false, false, false, false, true, true, false, false, false, false}, {2, 5});
  for (const bool tied : {false, true}) {
    TransformerConfig config = kTiny;
    config.tied_embedding = tied;
    const Transformer model = stirred(config);
    const Tensor logits = model(some_tokens());
    EXPECT_EQ(logits.shape(), (Shape{2, 5, 7}));
    expect_near(logits, by_parts(model, some_tokens()).to_vector(), 1e-12);
    expect_near(model(some_tokens(), padding), by_parts(model, some_tokens(), padding).to_vector(),
                1e-12);
  }
}

TEST(Transformer, HandsItsSettingsToItsParts) {
  const Transformer model = stirred({.vocabulary = 3,
                                     .context = 4,
                                     .layers = 1,
                                     .heads = 2,
                                     .d_model = 4,
                                     .dropout = 0.25,
                                     .activation = Activation::silu,
                                     .causal = false,
                                     .scale = 0.7,
                                     .eps = 1e-3});
  const TransformerBlock& block = model.blocks.at(0);
  EXPECT_EQ(block.mlp->up.weight.shape(), (Shape{4, 16}));
  EXPECT_EQ(block.mlp->activation, Activation::silu);
  EXPECT_EQ(block.attention.heads, 2);
  EXPECT_FALSE(block.attention.config.causal);
  EXPECT_EQ(block.attention.config.scale, 0.7);
  EXPECT_EQ(block.attention.config.dropout, 0.25);
  EXPECT_EQ(block.dropout.p, 0.25);
  EXPECT_EQ(model.dropout.p, 0.25);
  for (const Norm* norm : {&block.norm1, &*block.norm2, &model.final_norm})
    EXPECT_EQ(norm->options.eps, 1e-3);
}

TEST(Transformer, NamesItsParameters) {
  TransformerConfig config = kTiny;
  config.layers = 1;
  const Transformer model = stirred(config);
  std::vector<std::string> names;
  for (const NamedTensor& parameter : named_parameters(model)) names.push_back(parameter.name);
  EXPECT_EQ(names, (std::vector<std::string>{"token_embedding.weight",
                                             "position_embedding.weight",
                                             "blocks.0.norm1.weight",
                                             "blocks.0.norm1.bias",
                                             "blocks.0.attention.w_q.weight",
                                             "blocks.0.attention.w_q.bias",
                                             "blocks.0.attention.w_k.weight",
                                             "blocks.0.attention.w_v.weight",
                                             "blocks.0.attention.w_v.bias",
                                             "blocks.0.attention.w_o.weight",
                                             "blocks.0.attention.w_o.bias",
                                             "blocks.0.norm2.weight",
                                             "blocks.0.norm2.bias",
                                             "blocks.0.mlp.up.weight",
                                             "blocks.0.mlp.up.bias",
                                             "blocks.0.mlp.down.weight",
                                             "blocks.0.mlp.down.bias",
                                             "final_norm.weight",
                                             "final_norm.bias",
                                             "head.weight"}));
}

TEST(Transformer, CountsAsByHand) {
  const std::int64_t block = 4 * 8 * 8 + 3 * 8 + 2 * 8 * 12 + 12 + 8 + 4 * 8;
  EXPECT_EQ(count(stirred(kTiny)), 2 * 7 * 8 + 6 * 8 + 2 * block + 2 * 8);
  TransformerConfig tied = kTiny;
  tied.tied_embedding = true;
  EXPECT_EQ(count(stirred(tied)), 7 * 8 + 6 * 8 + 2 * block + 2 * 8);
}

TEST(Transformer, StartsAsGpt2) {
  Rng rng(4);
  const Transformer model(
      {.vocabulary = 300, .context = 100, .layers = 8, .heads = 2, .d_model = 64}, rng);
  for (const auto& [name, value] : parameters(model)) {
    double total = 0, squares = 0;
    for (const double v : value.to_vector()) {
      total += v;
      squares += v * v;
    }
    const double n = static_cast<double>(value.numel());
    if (value.ndim() == 1) {
      const bool gain = name.find("norm") != std::string::npos && name.ends_with("weight");
      EXPECT_EQ(total, gain ? n : 0) << name;
      EXPECT_EQ(squares, gain ? n : 0) << name;
    } else {
      const bool residual = name.ends_with("w_o.weight") || name.ends_with("down.weight");
      const double std = residual ? 0.02 / 4 : 0.02;
      EXPECT_NEAR(total / n, 0, 5 * std / std::sqrt(n)) << name;
      EXPECT_NEAR(std::sqrt(squares / n), std, 5 * std / std::sqrt(2 * n)) << name;
    }
  }
}

TEST(Transformer, IsTheSameForTheSameSeed) {
  Rng a(5), b(5), c(6);
  const Transformer one(kTiny, a), same(kTiny, b), other(kTiny, c);
  EXPECT_EQ(bytes(one(some_tokens())), bytes(same(some_tokens())));
  EXPECT_NE(bytes(one(some_tokens())), bytes(other(some_tokens())));
}

TEST(Transformer, SinglesAgreeWithDoubles) {
  const Transformer model = stirred(kTiny, f32);
  Transformer exact = clone(model);
  to(exact, f64);
  expect_near(model(some_tokens()), exact(some_tokens()).to_vector(), 1e-5);
}

TEST(Transformer, SeesLaterTokensOnlyIfNotCausal) {
  const Tokens before = tokens({1, 2, 3, 4}, {1, 4}), after = tokens({1, 2, 3, 5}, {1, 4});
  TransformerConfig config = kTiny;
  for (const bool causal : {true, false}) {
    config.causal = causal;
    const Transformer model = stirred(config);
    const Tensor a = slice(model(before), 1, 0, 3), b = slice(model(after), 1, 0, 3);
    EXPECT_EQ(bytes(a) == bytes(b), causal);
  }
}

TEST(Transformer, WhatIsHiddenIsNotSeen) {
  TransformerConfig config = kTiny;
  config.causal = false;
  const Transformer model = stirred(config);
  const Mask padding = mask({false, true, false, true}, {1, 4});
  const Tensor a = model(tokens({1, 2, 3, 4}, {1, 4}), padding);
  const Tensor b = model(tokens({1, 6, 3, 0}, {1, 4}), padding);
  EXPECT_EQ(bytes(slice(a, 1, 0, 3, 2)), bytes(slice(b, 1, 0, 3, 2)));
  EXPECT_NE(bytes(a), bytes(b));
}

TEST(Transformer, DropsInTrainingOnlyAndAtEveryPlace) {
  TransformerConfig config = kTiny;
  const Transformer model = stirred(config);
  const Tensor plain = model(some_tokens());
  const auto drops = [&](auto change) {
    Transformer other = model;
    change(other);
    EXPECT_EQ(bytes(other(some_tokens())), bytes(plain));
    Rng rng(1);
    Training scope(rng);
    return bytes(other(some_tokens())) != bytes(plain);
  };
  EXPECT_FALSE(drops([](Transformer&) {}));
  EXPECT_TRUE(drops([](Transformer& m) { m.dropout.p = 0.5; }));
  EXPECT_TRUE(drops([](Transformer& m) { m.blocks[0].dropout.p = 0.5; }));
  EXPECT_TRUE(drops([](Transformer& m) { m.blocks[1].attention.config.dropout = 0.5; }));

  // With everything dropped, only the final norm's bias is left, at every position.
  config.dropout = 1;
  const Transformer all = with_parameters(Transformer(stirred(config)), tensors(model));
  Rng rng(1);
  Training scope(rng);
  const Tensor left = broadcast_to(matmul(model.final_norm.bias, model.head->weight), {2, 5, 7});
  expect_near(all(some_tokens()), left.to_vector(), 1e-12);
}

TEST(Transformer, ATiedTableLearnsFromBothEnds) {
  TransformerConfig config = kTiny;
  config.tied_embedding = true;
  const Transformer tied = stirred(config);
  config.tied_embedding = false;
  Transformer untied = stirred(config);
  std::vector<Tensor> values = tensors(tied);
  values.push_back(transpose(tied.token_embedding.weight).detach().requires_grad_());
  const Transformer twin = with_parameters(untied, values);

  const Tensor table = tied.token_embedding.weight;
  const Tensor both = grad(probe(tied(some_tokens())), table);
  const std::vector<Tensor> ends = grad(probe(twin(some_tokens())), {table, twin.head->weight});
  expect_near(both, (ends[0] + transpose(ends[1])).to_vector(), 1e-12);
}

TEST(Transformer, RefusesWhatItCannotRead) {
  const Transformer model = stirred(kTiny);
  EXPECT_THAT(message<IndexError>([&] {
                model(tokens(std::vector<std::int64_t>(7, 1), {1, 7}));
              }),
              testing::HasSubstr("context 6, got 7"));
  EXPECT_THAT(message<ShapeError>([&] { model(tokens({1, 2}, {2})); }), testing::HasSubstr("(2)"));
  EXPECT_THAT(message<ShapeError>([&] {
                model(some_tokens(), mask(std::vector<bool>(4, false), {1, 4}));
              }),
              testing::AllOf(testing::HasSubstr("(2, 5)"), testing::HasSubstr("(1, 4)")));
  EXPECT_THROW(model(tokens({7}, {1, 1})), IndexError);
  EXPECT_THROW(model(tokens({-1}, {1, 1})), IndexError);
}

TEST(Transformer, RefusesBadSettingsByName) {
  const auto refusal = [](auto change) {
    TransformerConfig config;
    change(config);
    const std::string said = message<ValueError>([&] { validate(config); });
    Rng rng(1);
    EXPECT_EQ(message<ValueError>([&] { Transformer(config, rng); }), said);
    return said;
  };
  using Config = TransformerConfig;
  using testing::AllOf;
  using testing::HasSubstr;
  using testing::StartsWith;
  const double nan = std::nan("");
  EXPECT_THAT(refusal([](Config& c) { c.heads = 3; }),
              StartsWith("heads = 3 does not divide d_model = 32"));
  EXPECT_THAT(refusal([](Config& c) { c.heads = 0; }), StartsWith("heads = 0 must"));
  EXPECT_THAT(refusal([](Config& c) { c.d_model = -2; }), StartsWith("d_model = -2 must"));
  EXPECT_THAT(refusal([](Config& c) { c.vocabulary = 0; }), StartsWith("vocabulary = 0 must"));
  EXPECT_THAT(refusal([](Config& c) { c.context = 0; }), StartsWith("context = 0 must"));
  EXPECT_THAT(refusal([](Config& c) { c.layers = -1; }), StartsWith("layers = -1 must"));
  EXPECT_THAT(refusal([](Config& c) { c.d_ff = -1; }), StartsWith("d_ff = -1 must"));
  EXPECT_THAT(refusal([](Config& c) { c.dropout = 1.5; }), StartsWith("dropout = 1.5 must"));
  EXPECT_THAT(refusal([](Config& c) { c.dropout = -0.1; }), StartsWith("dropout = -0.1 must"));
  EXPECT_THAT(refusal([=](Config& c) { c.dropout = nan; }), StartsWith("dropout = nan must"));
  EXPECT_THAT(refusal([](Config& c) { c.scale = -1.0; }), StartsWith("scale = -1 must"));
  EXPECT_THAT(refusal([](Config& c) { c.eps = 0; }), StartsWith("eps = 0 must"));
  EXPECT_THAT(refusal([](Config& c) { c.activation = static_cast<Activation>(9); }),
              StartsWith("activation"));
  EXPECT_THAT(refusal([](Config& c) { c.kv_heads = 3; }),
              StartsWith("kv_heads = 3 must divide heads = 2"));
  EXPECT_THAT(refusal([](Config& c) { c.kv_heads = -1; }), StartsWith("kv_heads = -1 must"));
  EXPECT_THAT(refusal([](Config& c) {
                c.d_model = 6;
                c.positions = Positions::rotary;
              }),
              AllOf(StartsWith("positions = rotary"), HasSubstr("d_model / heads = 3 is odd")));
  EXPECT_THAT(refusal([](Config& c) { c.positions = static_cast<Positions>(5); }),
              StartsWith("positions"));
  EXPECT_THAT(refusal([](Config& c) { c.norm = static_cast<NormPlace>(3); }), StartsWith("norm:"));
  EXPECT_THAT(refusal([](Config& c) { c.norm_kind = static_cast<NormKind>(2); }),
              StartsWith("norm_kind"));
  EXPECT_NO_THROW(validate({}));
}

TEST(Transformer, LeavesNoNodeBehind) {
  const Transformer model = stirred(kTiny);
  const std::int64_t before = live_nodes();
  {
    const Tensor loss = cross_entropy(model(some_tokens()), some_tokens());
    EXPECT_GT(live_nodes(), before);
    backward(loss);
  }
  EXPECT_EQ(live_nodes(), before);
}

}  // namespace
}  // namespace heed::layer_tests
