// Every layer against central differences to second order, as a function of its input and of all
// its parameters.

#include "support.h"

namespace heed::layer_tests {
namespace {

const auto of_x = [](const auto& layer, const std::vector<Tensor>& xs) { return layer(xs[0]); };

Tensor input(Shape shape) {
  Rng rng(12);
  return normal(shape, rng, 0, 1, f64);
}

/// `layer(xs...)` with the attention weights put on the path.
const auto composed = [](const auto& layer, const auto&... xs) {
  Recorder recorder(layer);
  recorder.replace("weights", [](const Tensor& w) { return w; });
  return layer(xs...);
};

TEST(LayerGradients, Linear) {
  Rng rng(1);
  EXPECT_TRUE(gradcheck_layer(Linear(3, 2, rng), {input({2, 2, 3})}, of_x));
  EXPECT_TRUE(gradcheck_layer(Linear(3, 2, rng, {.bias = false}), {input({4, 3})}, of_x));
}

TEST(LayerGradients, Embeddings) {
  Rng rng(1);
  EXPECT_TRUE(gradcheck_layer(Embedding(4, 3, rng), {}, [](const auto& m, const auto&) {
    return square(m(tokens({2, 0, 2, 3}, {2, 2})));
  }));
  EXPECT_TRUE(gradcheck_layer(PositionEmbedding(4, 3, rng), {},
                              [](const auto& m, const auto&) { return square(m(3)); }));
}

TEST(LayerGradients, LayerNorm) {
  EXPECT_TRUE(gradcheck_layer(LayerNorm(5), {input({2, 3, 5})}, of_x));
}

TEST(LayerGradients, Dropout) {
  EXPECT_TRUE(gradcheck_layer(Dropout{0.5}, {input({3, 4})}, [](const auto& m, const auto& xs) {
    Rng rng(5);
    Training scope(rng);
    return square(m(xs[0]));
  }));
}

TEST(LayerGradients, Mlp) {
  Rng rng(1);
  for (const Activation activation : kActivations)
    EXPECT_TRUE(gradcheck_layer(Mlp(3, 5, rng, activation), {input({2, 3})}, of_x))
        << name(activation);
}

TEST(LayerGradients, SelfAttention) {
  Rng rng(1);
  const MultiHeadAttention layer(4, 2, rng, {.causal = true});
  const Mask hidden = padding_mask(mask({false, true, false, false, false, true}, {2, 3}));
  EXPECT_TRUE(gradcheck_layer(layer, {input({2, 3, 4})},
                              [&](const auto& m, const auto& xs) { return m(xs[0], hidden); }));
  EXPECT_TRUE(gradcheck_layer(layer, {input({2, 3, 4})}, [&](const auto& m, const auto& xs) {
    return composed(m, xs[0], hidden);
  }));
}

TEST(LayerGradients, CrossAttention) {
  Rng rng(1);
  const MultiHeadAttention layer(4, 2, rng, {.scale = 0.8});
  const std::vector<Tensor> inputs{input({1, 2, 4}), input({1, 3, 4}) * 0.9};
  EXPECT_TRUE(gradcheck_layer(layer, inputs,
                              [](const auto& m, const auto& xs) { return m(xs[0], xs[1]); }));
  EXPECT_TRUE(gradcheck_layer(
      layer, inputs, [](const auto& m, const auto& xs) { return composed(m, xs[0], xs[1]); }));
}

TEST(LayerGradients, AttentionWithDropout) {
  Rng rng(1);
  EXPECT_TRUE(gradcheck_layer(MultiHeadAttention(4, 2, rng, {.dropout = 0.4}), {input({1, 3, 4})},
                              [](const auto& m, const auto& xs) {
                                Rng same(5);
                                Training scope(same);
                                return m(xs[0]);
                              }));
}

TEST(LayerGradients, RecordedWeights) {
  Rng rng(1);
  EXPECT_TRUE(gradcheck_layer(MultiHeadAttention(4, 2, rng, {.causal = true}), {input({1, 3, 4})},
                              [](const auto& m, const auto& xs) {
                                Recorder recorder(m);
                                m(xs[0]);
                                return recorder.at("weights");
                              }));
}

TEST(LayerGradients, Transformer) {
  Rng rng(1);
  TransformerConfig config{
      .vocabulary = 3, .context = 3, .layers = 1, .heads = 2, .d_model = 4, .d_ff = 5};
  for (const bool tied : {false, true}) {
    config.tied_embedding = tied;
    EXPECT_TRUE(gradcheck_layer(Transformer(config, rng), {}, [](const auto& m, const auto&) {
      return m(tokens({2, 0, 2, 1}, {2, 2}));
    })) << (tied ? "tied" : "untied");
  }
}

}  // namespace
}  // namespace heed::layer_tests
