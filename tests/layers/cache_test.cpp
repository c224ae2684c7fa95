#include "support.h"

namespace heed::layer_tests {
namespace {

using testing::HasSubstr;

constexpr TransformerConfig kTiny{
    .vocabulary = 7, .context = 6, .layers = 2, .heads = 2, .d_model = 8, .d_ff = 12};

Transformer stirred(TransformerConfig config = kTiny) {
  Rng rng(21);
  Transformer model(config, rng);
  to(model, f64);
  stir(model, rng);
  return model;
}

const Tokens kWhole = tokens({3, 0, 6, 2, 5, 5, 1, 4, 3, 0}, {2, 5});
const Tokens kFirst = tokens({3, 0, 6, 5, 1, 4}, {2, 3});
const Tokens kRest = tokens({2, 5, 3, 0}, {2, 2});

Tensor in_two(const Transformer& model) {
  KvCache cache;
  const Tensor first = model(kFirst, cache);
  return concat({first, model(kRest, cache)}, 1);
}

TEST(KvCache, HoldsWhatWasRead) {
  const Transformer model = stirred();
  KvCache cache;
  EXPECT_EQ(cache.length(), 0);
  model(kFirst, cache);
  EXPECT_EQ(cache.length(), 3);
  ASSERT_EQ(cache.layers.size(), 2u);
  const std::vector<std::byte> before = bytes(cache.layers[1].values);
  model(kRest, cache);
  EXPECT_EQ(cache.length(), 5);
  EXPECT_EQ(cache.layers[1].keys.shape(), (Shape{2, 5, 8}));
  EXPECT_EQ(bytes(slice(cache.layers[1].values, 1, 0, 3)), before);
  model(tokens({}, {2, 0}), cache);
  EXPECT_EQ(cache.length(), 5);
  cache = {};
  EXPECT_EQ(cache.length(), 0);
}

TEST(KvCache, OfOneLayerIsTheFullForward) {
  Rng rng(1);
  MultiHeadAttention m(6, 3, rng, {.causal = true, .scale = 0.7});
  to(m, f64);
  stir(m, rng);
  const Tensor x = normal({2, 5, 6}, rng, 0, 1, f64);
  KeysValues past;
  std::vector<Tensor> parts;
  for (const Tensor& part : split(x, {2, 1, 2}, 1)) parts.push_back(m(part, past));
  expect_near(concat(parts, 1), m(x).to_vector(), 1e-12);
  expect_near(past.keys, m.w_k(x).to_vector(), 1e-12);
}

TEST(KvCache, OfOneBlockIsTheFullForward) {
  Rng rng(2);
  TransformerBlock block(kTiny, rng);
  to(block, f64);
  stir(block, rng);
  const Tensor x = normal({2, 5, 8}, rng, 0, 1, f64);
  KeysValues past;
  const Tensor first = block(slice(x, 1, 0, 3), past);
  expect_near(concat({first, block(slice(x, 1, 3, 5), past)}, 1), block(x).to_vector(), 1e-12);
}

TEST(KvCache, TheGradientIsThatOfTheFullForward) {
  const Transformer model = stirred();
  const std::vector<Tensor> full = grad(probe(model(kWhole)), tensors(model));
  const std::vector<Tensor> cached = grad(probe(in_two(model)), tensors(model));
  for (std::size_t i = 0; i < full.size(); ++i) expect_near(cached[i], full[i].to_vector(), 1e-11);
}

TEST(KvCache, KeepsNoGraphUnderNoGrad) {
  const Transformer model = stirred();
  const std::int64_t before = live_nodes();
  KvCache cache;
  {
    const NoGrad quiet;
    model(kFirst, cache);
  }
  EXPECT_EQ(live_nodes(), before);
  EXPECT_FALSE(cache.layers[0].keys.requires_grad());
}

TEST(KvCache, ACopyGoesOnByItself) {
  const Transformer model = stirred();
  KvCache cache;
  model(kFirst, cache);
  KvCache other = cache;
  const Tensor one = model(kRest, cache);
  const Tensor different = model(tokens({0, 0, 0, 0}, {2, 2}), other);
  EXPECT_NE(bytes(one), bytes(different));
  EXPECT_EQ(other.length(), 5);
  expect_near(one, slice(model(kWhole), 1, 3, 5).to_vector(), 1e-12);
}

TEST(KvCache, RemembersWhatIsPadding) {
  const Transformer model = stirred();
  const std::vector<bool> none(10, false);
  for (const std::size_t hidden : {1u, 4u, 6u, 8u}) {  // of the first part or the rest, both rows
    std::vector<bool> all = none, first, rest;
    all[hidden] = true;
    for (std::size_t n = 0; n < 10; ++n) (n % 5 < 3 ? first : rest).push_back(all[n]);
    const bool in_first = hidden % 5 < 3;
    KvCache cache;
    const Tensor a = model(kFirst, cache, in_first ? mask(first, {2, 3}) : Mask());
    const Tensor b = model(kRest, cache, in_first ? Mask() : mask(rest, {2, 2}));
    expect_near(concat({a, b}, 1), model(kWhole, mask(all, {2, 5})).to_vector(), 1e-12);
    EXPECT_EQ(cache.hidden.to_vector(), all);
  }
}

TEST(KvCache, ARecorderSeesTheRowsOfTheNewTokens) {
  const Transformer model = stirred();
  const std::string name = "blocks.1.attention.weights";
  Recorder recorder(model);
  model(kWhole);
  const Tensor full = recorder.at(name);
  in_two(model);
  EXPECT_EQ(recorder.at(name).shape(), (Shape{2, 2, 2, 5}));
  expect_near(recorder.at(name), slice(full, 2, 3, 5).to_vector(), 1e-12);

  recorder.replace(name, [](const Tensor& weights) { return flip(weights, 1); });
  expect_near(slice(in_two(model), 1, 3, 5), slice(model(kWhole), 1, 3, 5).to_vector(), 1e-12);
}

TEST(KvCache, RefusesWhatDoesNotContinueIt) {
  const Transformer model = stirred();
  KvCache cache;
  model(kFirst, cache);
  const auto refused = [&]<class E>(std::type_identity<E>, const auto& other, const Tokens& ids,
                                    const Mask& hidden = {}) {
    const std::string said = message<E>([&] { other(ids, cache, hidden); });
    EXPECT_EQ(cache.length(), 3);
    EXPECT_FALSE(cache.hidden.defined());
    return said;
  };
  const std::type_identity<ShapeError> shape;
  const std::type_identity<ValueError> value;
  const std::type_identity<IndexError> index;
  EXPECT_THAT(refused(shape, model, tokens({1}, {1, 1})),
              testing::AllOf(HasSubstr("a batch of 2"), HasSubstr("(1, 1)")));
  EXPECT_THAT(refused(shape, model, kRest, mask({false, true}, {2, 1})), HasSubstr("(2, 1)"));
  EXPECT_THAT(refused(index, model, tokens(std::vector<std::int64_t>(8, 1), {2, 4})),
              HasSubstr("context 6, got 4 positions from 3 on"));
  EXPECT_THAT(refused(index, model, tokens({1, 7}, {2, 1}), mask({true, true}, {2, 1})),
              HasSubstr("7"));

  TransformerConfig config = kTiny;
  config.layers = 3;
  EXPECT_THAT(refused(value, stirred(config), kRest),
              testing::AllOf(HasSubstr("of 2 layers"), HasSubstr("has 3")));
  config = kTiny;
  config.causal = false;
  EXPECT_THAT(refused(value, stirred(config), kRest), HasSubstr("causal = true"));
  config = kTiny;
  config.d_model = 4;
  EXPECT_THAT(refused(shape, stirred(config), kRest),
              testing::AllOf(HasSubstr("(2, 3, 8)"), HasSubstr("(2, 2, 4)")));
  Transformer single = stirred();
  to(single, f32);
  EXPECT_THAT(refused(std::type_identity<DTypeError>(), single, kRest), HasSubstr("f64"));

  KvCache changed = cache;
  changed.hidden = mask({true, true, true, true, true, true, true, true}, {2, 4});
  EXPECT_THAT(message<ShapeError>([&] { model(kRest, changed); }), HasSubstr("(2, 4)"));
  changed = cache;
  changed.layers[1] = {};
  EXPECT_THAT(message<ShapeError>([&] { model(kRest, changed); }), HasSubstr("its layers"));

  expect_near(model(kRest, cache), slice(model(kWhole), 1, 3, 5).to_vector(), 1e-12);
}

TEST(KvCache, AnErrorInTheLastLayerLeavesItAsItWas) {
  const Transformer model = stirred();
  KvCache cache;
  model(kFirst, cache);
  {
    Recorder recorder(model);
    recorder.replace("blocks.1.attention.weights",
                     [](const Tensor&) -> Tensor { throw ValueError("no"); });
    EXPECT_THROW(model(kRest, cache), ValueError);
  }
  EXPECT_EQ(cache.length(), 3);
  expect_near(model(kRest, cache), slice(model(kWhole), 1, 3, 5).to_vector(), 1e-12);
}

}  // namespace
}  // namespace heed::layer_tests
