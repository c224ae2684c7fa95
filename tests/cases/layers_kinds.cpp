// Cases of whole models, of every kind that a config can name.

#include "layers_support.h"

namespace heed::layer_tests {
namespace {

constexpr TransformerConfig kTiny{
    .vocabulary = 5, .context = 8, .layers = 2, .heads = 2, .d_model = 8};

TEST(Cases, G08_EveryParameterOfEveryKindOfModelMoves) {
  Rng rng(4);
  const Tokens ids = random_tokens({2, 6}, 5, rng), targets = random_tokens({2, 6}, 5, rng);
  const auto identity = [](const Tensor& weights) { return weights; };
  for (const bool composed : {false, true})
    for (const Positions positions : kPositions)
      for (const Activation activation : {Activation::swiglu, Activation::none}) {
        TransformerConfig config = kTiny;
        config.positions = positions;
        config.activation = activation;
        config.kv_heads = 1;
        config.norm = activation == Activation::none ? NormPlace::none : NormPlace::post;
        config.norm_kind = NormKind::rms;
        const std::string what =
            text(composed ? "composed " : "fused ", name(positions), " ", name(activation));
        Transformer model(config, rng);
        EncoderDecoder pair(config, rng);
        stir(model, rng);  // without a norm, a step from the start is below the last bit
        stir(pair, rng);
        Recorder recorder(model), of_pair(pair);
        if (composed)
          for (const char* block : {"blocks.0.", "blocks.1."}) {
            recorder.replace(text(block, "attention.weights"), identity);
            of_pair.replace(text("encoder.", block, "attention.weights"), identity);
            of_pair.replace(text("decoder.", block, "attention.weights"), identity);
            of_pair.replace(text("decoder.", block, "cross.weights"), identity);
          }
        expect_all_move(model, cross_entropy(model(ids), targets), what + " Transformer");
        expect_all_move(pair, cross_entropy(pair(ids, targets), targets), what + " EncoderDecoder");
      }
}

TEST(Cases, L03_NothingLeaksFromLaterTokensWithAnyPositions) {
  Rng rng(5);
  const Tokens ids = random_tokens({2, 8}, 5, rng);
  for (const Positions positions : kPositions) {
    TransformerConfig config = kTiny;
    config.positions = positions;
    Transformer model(config, rng);
    stir(model, rng);
    const Tensor y = model(ids);
    for (std::int64_t j = 0; j < 8; ++j) {
      const Tensor other = model(changed(ids, j, 5));
      EXPECT_EQ(bytes(slice(y, 1, 0, j)), bytes(slice(other, 1, 0, j)))
          << name(positions) << ", token " << j;
      EXPECT_NE(bytes(slice(y, 1, j, j + 1)), bytes(slice(other, 1, j, j + 1)));
    }
  }
}

TEST(Cases, L17_AnUntrainedModelOfAnyKindKnowsNothing) {
  const NoGrad quiet;
  Rng rng(6);
  const Tokens ids = random_tokens({4, 8}, 65, rng), targets = random_tokens({4, 8}, 65, rng);
  for (const Positions positions : kPositions)
    for (const NormPlace norm : kNormPlaces) {
      const TransformerConfig config{.vocabulary = 65,
                                     .context = 8,
                                     .layers = 2,
                                     .heads = 4,
                                     .d_model = 64,
                                     .positions = positions,
                                     .norm = norm};
      const Transformer model(config, rng);
      const EncoderDecoder pair(config, rng);
      EXPECT_NEAR(cross_entropy(model(ids), targets).item(), 4.17439, .2) << name(positions);
      EXPECT_NEAR(cross_entropy(pair(ids, ids), targets).item(), 4.17439, .2) << name(positions);
    }
}

}  // namespace
}  // namespace heed::layer_tests
