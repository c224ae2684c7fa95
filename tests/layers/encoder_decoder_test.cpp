#include "support.h"

namespace heed::layer_tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr TransformerConfig kTiny{
    .vocabulary = 7, .context = 6, .layers = 2, .heads = 2, .d_model = 8, .d_ff = 12};

const Tokens kMemory = tokens({3, 0, 6, 2, 5, 1, 4, 3}, {2, 4});
const Mask kHidden = mask({false, false, false, false, false, false, true, true}, {2, 4});
const Tokens kWritten = tokens({1, 2, 3, 6, 5, 4}, {2, 3});

EncoderDecoder stirred(TransformerConfig config = kTiny) {
  Rng rng(31);
  EncoderDecoder model(config, rng);
  to(model, f64);
  stir(model, rng);
  return model;
}

Tensor by_norm(const Tensor& x, const Norm& norm) { return layer_norm(x, norm.weight, norm.bias); }

Tensor by_mlp(const Tensor& x, const Mlp& mlp) {
  return linear(gelu(linear(x, mlp.up.weight, mlp.up.bias)), mlp.down.weight, mlp.down.bias);
}

Tensor embedded(const InputEmbedding& m, const Tokens& ids) {
  return embedding(m.token_embedding.weight, ids) +
         slice(m.position_embedding->weight, 0, 0, ids.dim(1));
}

/// The wiring, written out again with the parts, each of which has tests of its own.
Tensor by_parts(const EncoderDecoder& m) {
  const Mask hidden = padding_mask(kHidden);
  Tensor x = embedded(m.encoder, kMemory);
  for (const TransformerBlock& b : m.encoder.blocks) {
    x = x + b.attention(by_norm(x, b.norm1), hidden);
    x = x + by_mlp(by_norm(x, *b.norm2), *b.mlp);
  }
  const Tensor memory = by_norm(x, m.encoder.final_norm);
  Tensor y = embedded(m.decoder, kWritten);
  for (const DecoderBlock& b : m.decoder.blocks) {
    y = y + b.attention(by_norm(y, b.norm1));
    y = y + b.cross(by_norm(y, b.norm2), memory, hidden);
    y = y + by_mlp(by_norm(y, *b.norm3), *b.mlp);
  }
  y = by_norm(y, m.decoder.final_norm);
  return matmul(
      y, m.decoder.head ? m.decoder.head->weight : transpose(m.encoder.token_embedding.weight));
}

TEST(EncoderDecoder, IsWiredAsDocumented) {
  for (const bool tied : {false, true}) {
    TransformerConfig config = kTiny;
    config.tied_embedding = tied;
    const EncoderDecoder model = stirred(config);
    const Tensor logits = model(kMemory, kWritten, kHidden);
    EXPECT_EQ(logits.shape(), (Shape{2, 3, 7}));
    expect_near(logits, by_parts(model).to_vector(), 1e-12);
  }
}

TEST(EncoderDecoder, NamesItsParameters) {
  TransformerConfig config = kTiny;
  config.layers = 1;
  config.tied_embedding = true;
  const EncoderDecoder model = stirred(config);
  std::vector<std::string> names;
  for (const NamedTensor& parameter : named_parameters(model)) names.push_back(parameter.name);
  for (const char* name :
       {"encoder.token_embedding.weight", "encoder.blocks.0.attention.w_q.weight",
        "encoder.final_norm.bias", "decoder.token_embedding.weight",
        "decoder.blocks.0.attention.w_v.bias", "decoder.blocks.0.cross.w_k.weight",
        "decoder.blocks.0.norm3.weight", "decoder.blocks.0.mlp.down.bias"})
    EXPECT_THAT(names, testing::Contains(name));
  const auto once = parameters(model);
  EXPECT_EQ(once.size() + 1, names.size());  // one table for all
}

TEST(EncoderDecoder, TheEncoderSeesAllAndTheDecoderOnlyWhatIsWritten) {
  const EncoderDecoder model = stirred();
  const Tensor y = model(kMemory, kWritten);
  const Tensor late_memory = model(tokens({3, 0, 6, 1, 5, 1, 4, 0}, {2, 4}), kWritten);
  EXPECT_NE(bytes(slice(y, 1, 0, 1)), bytes(slice(late_memory, 1, 0, 1)));
  const Tensor late_word = model(kMemory, tokens({1, 2, 0, 6, 5, 0}, {2, 3}));
  EXPECT_EQ(bytes(slice(y, 1, 0, 2)), bytes(slice(late_word, 1, 0, 2)));
  EXPECT_NE(bytes(y), bytes(late_word));
}

TEST(EncoderDecoder, NobodySeesPaddingOfTheMemory) {
  const EncoderDecoder model = stirred();
  const Tokens other = tokens({3, 0, 6, 2, 5, 1, 0, 6}, {2, 4});
  EXPECT_EQ(bytes(model(kMemory, kWritten, kHidden)), bytes(model(other, kWritten, kHidden)));
  EXPECT_NE(bytes(model(kMemory, kWritten)), bytes(model(other, kWritten)));
}

TEST(EncoderDecoder, ARecorderSeesEveryKindOfHead) {
  const EncoderDecoder model = stirred();
  Recorder recorder(model);
  const Tensor y = model(kMemory, kWritten, kHidden);
  EXPECT_EQ(recorder.at("encoder.blocks.1.attention.weights").shape(), (Shape{2, 2, 4, 4}));
  EXPECT_EQ(recorder.at("decoder.blocks.1.attention.weights").shape(), (Shape{2, 2, 3, 3}));
  const Tensor cross = recorder.at("decoder.blocks.1.cross.weights");
  EXPECT_EQ(cross.shape(), (Shape{2, 2, 3, 4}));
  EXPECT_EQ(sum(slice(slice(cross, 0, 1, 2), 3, 2, 4)).item(), 0);  // the padding of row 1
  recorder.replace("decoder.blocks.1.cross.weights", [](const Tensor& w) { return flip(w, 3); });
  EXPECT_NE(bytes(model(kMemory, kWritten, kHidden)), bytes(y));
}

/// Every scheme of positions, place of norms, kind of heads and Mlp.
std::vector<TransformerConfig> every_kind() {
  std::vector<TransformerConfig> all;
  for (const Positions positions : kPositions)
    for (const NormPlace norm : kNormPlaces)
      for (const Activation activation : {Activation::gelu, Activation::swiglu, Activation::none}) {
        TransformerConfig config = kTiny;
        config.positions = positions;
        config.norm = norm;
        config.activation = activation;
        config.kv_heads = activation == Activation::gelu ? 0 : 1;
        all.push_back(config);
      }
  return all;
}

TEST(EncoderDecoder, DecodingWithACacheIsTheFullForward) {
  const NoGrad quiet;
  Rng rng(3);
  for (const TransformerConfig& config : every_kind())
    for (const Mask& hidden : {Mask(), kHidden}) {
      const EncoderDecoder model = stirred(config);
      const Tensor full = model(kMemory, kWritten, hidden);
      for (const std::int64_t first : {1, 2, 3}) {
        DecoderCache cache = model.read(kMemory, hidden);
        std::vector<Tensor> parts;
        for (std::int64_t t = 0; t < 3; t = cache.written.length()) {
          const std::int64_t stop = t == 0 ? first : t + 1;
          std::vector<std::int64_t> ids;
          for (const std::int64_t b : {0, 1})
            for (std::int64_t i = t; i < stop; ++i)
              ids.push_back(kWritten.data()[static_cast<std::size_t>(3 * b + i)]);
          parts.push_back(model.decoder(tokens(ids, {2, stop - t}), cache));
        }
        expect_near(concat(parts, 1), full.to_vector(), 1e-10);
      }
    }
}

TEST(EncoderDecoder, RefusesWhatDoesNotFit) {
  const EncoderDecoder model = stirred();
  EXPECT_THAT(message<ShapeError>([&] {
                model(kMemory, tokens({1}, {1, 1}));
              }),
              AllOf(HasSubstr("(1, 1)"), HasSubstr("(2, 4, 8)")));
  EXPECT_THAT(message<ShapeError>([&] { model(kMemory, tokens({1}, {1})); }), HasSubstr("(1)"));
  EXPECT_THAT(message<ShapeError>([&] {
                model(kMemory, kWritten, mask({true, true}, {2, 1}));
              }),
              AllOf(HasSubstr("(2, 4)"), HasSubstr("(2, 1)")));
  EXPECT_THAT(message<IndexError>([&] {
                model(tokens(std::vector<std::int64_t>(7, 1), {1, 7}), tokens({1}, {1, 1}));
              }),
              HasSubstr("context 6, got 7"));
  EXPECT_THAT(message<ValueError>([] {
                TransformerConfig config = kTiny;
                config.heads = 3;
                stirred(config);
              }),
              HasSubstr("heads = 3 does not divide"));
  DecoderCache cache = model.read(kMemory);
  EXPECT_THAT(message<ShapeError>([&] {
                model.decoder(tokens({1}, {1, 1}), cache);
              }),
              HasSubstr("(1, 1)"));
  EXPECT_EQ(cache.written.length(), 0);
  cache.memory.pop_back();
  EXPECT_THAT(message<ValueError>([&] { model.decoder(kWritten, cache); }),
              HasSubstr("of 1 layers, the model has 2"));
}

}  // namespace
}  // namespace heed::layer_tests
