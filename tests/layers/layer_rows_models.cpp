#include "layer_rows.h"

namespace heed::layer_table {
namespace {

TransformerConfig tiny(TransformerConfig config = {}) {
  config.vocabulary = config.context = 3;
  config.layers = 1;
  config.d_model = 4;
  config.d_ff = 5;
  return config;
}

Row block() {
  const auto make = [](TransformerConfig config) {
    return [config](Rng& rng) { return TransformerBlock(tiny(config), rng); };
  };
  return {"TransformerBlock",
          {variant("", make({}), {{2, 3, 4}}),
           variant("composed", make({}), {{2, 3, 4}}, composed("attention.weights", kOfOne)),
           variant("attention alone", make({.activation = Activation::none}), {{2, 3, 4}}),
           variant("post, swiglu",
                   make({.norm = NormPlace::post, .activation = Activation::swiglu}), {{1, 3, 4}}),
           variant("no norm", make({.norm = NormPlace::none}), {{1, 3, 4}}),
           variant("dropout", make({.dropout = 0.3}), {{1, 3, 4}}, in_training(kOfOne))}};
}

Row transformer() {
  const auto make = [](TransformerConfig config) {
    return [config](Rng& rng) { return Transformer(tiny(config), rng); };
  };
  const auto call = [](const auto& layer, const List&) {
    return layer(tokens({2, 0, 2, 1}, {2, 2}));
  };
  const auto padded = [](const auto& layer, const List&) {
    return layer(tokens({2, 0, 2, 1}, {2, 2}), mask({false, false, false, true}, {2, 2}));
  };
  const auto cached = [](const auto& layer, const List&) {
    KvCache cache;
    const Tensor y = layer(tokens({2, 0, 2, 1}, {2, 2}), cache);
    return concat({y, layer(tokens({1, 0}, {2, 1}), cache)}, 1);
  };
  return {
      "Transformer",
      {variant("", make({}), {}, call), variant("tied", make({.tied_embedding = true}), {}, call),
       variant("composed", make({}), {}, composed("blocks.0.attention.weights", call)),
       variant("padded, not causal", make({.causal = false}), {}, padded),
       variant("cached", make({}), {}, cached),
       variant("sinusoidal, rms",
               make({.positions = Positions::sinusoidal, .norm_kind = NormKind::rms}), {}, call),
       variant("alibi, post", make({.positions = Positions::alibi, .norm = NormPlace::post}), {},
               call),
       variant("rotary, attention alone",
               make({.positions = Positions::rotary, .activation = Activation::none}), {}, cached),
       variant("dropout", make({.dropout = 0.3}), {}, in_training(call))}};
}

Row encoder() {
  const auto make = [](TransformerConfig config) {
    return [config](Rng& rng) { return Encoder(tiny(config), rng); };
  };
  const auto call = [](const auto& layer, const List&) {
    return layer(tokens({2, 0, 2, 1}, {2, 2}), mask({false, false, false, true}, {2, 2}));
  };
  return {
      "Encoder",
      {variant("", make({}), {}, call), variant("composed", make({.positions = Positions::alibi}),
                                                {}, composed("blocks.0.attention.weights", call))}};
}

/// A call with x (1, 2, C) and memory (1, 3, C), the last of which is padding.
Tensor decode(const DecoderBlock& block, const List& xs) {
  return block(xs[0], xs[1], mask({false, false, true}, {1, 1, 1, 3}));
}

Row decoder_block() {
  const auto make = [](TransformerConfig config) {
    return [config](Rng& rng) { return DecoderBlock(tiny(config), rng); };
  };
  const auto cached = [](const auto& layer, const List& xs) {
    KeysValues past;
    const KeysValues memory = layer.cross.keys_values(xs[1]);
    const Tensor y = layer(slice(xs[0], 1, 0, 1), past, memory);
    return concat({y, layer(slice(xs[0], 1, 1, 2), past, memory)}, 1);
  };
  const std::vector<Shape> shapes{{1, 2, 4}, {1, 3, 4}};
  return {"DecoderBlock",
          {variant("", make({}), shapes, decode),
           variant("composed", make({.kv_heads = 1}), shapes, composed("cross.weights", decode)),
           variant("post, attention alone",
                   make({.norm = NormPlace::post, .activation = Activation::none}), shapes, decode),
           variant("cached", make({.positions = Positions::rotary}), shapes, cached)}};
}

Row decoder() {
  const auto make = [](Rng& rng) { return Decoder(tiny(), rng); };
  const auto call = [](const auto& layer, const List& xs) {
    return layer(tokens({2, 0}, {1, 2}), xs[0], mask({false, true}, {1, 2}));
  };
  const auto cached = [](const auto& layer, const List& xs) {
    DecoderCache cache = layer.look_at(xs[0], mask({false, true}, {1, 2}));
    const Tensor y = layer(tokens({2}, {1, 1}), cache);
    return concat({y, layer(tokens({0}, {1, 1}), cache)}, 1);
  };
  return {"Decoder",
          {variant("", make, {{1, 2, 4}}, call), variant("cached", make, {{1, 2, 4}}, cached)}};
}

Row encoder_decoder() {
  const auto make = [](TransformerConfig config) {
    return [config](Rng& rng) { return EncoderDecoder(tiny(config), rng); };
  };
  const auto call = [](const auto& layer, const List&) {
    return layer(tokens({2, 0, 1}, {1, 3}), tokens({1, 2}, {1, 2}),
                 mask({false, false, true}, {1, 3}));
  };
  const std::string cross = "decoder.blocks.0.cross.weights";
  return {
      "EncoderDecoder",
      {variant("", make({}), {}, call), variant("composed", make({}), {}, composed(cross, call)),
       variant("tied, dropout", make({.dropout = 0.3, .tied_embedding = true}), {},
               in_training(call))}};
}

}  // namespace

std::vector<Row> model_rows() {
  return {block(), transformer(), encoder(), decoder_block(), decoder(), encoder_decoder()};
}

}  // namespace heed::layer_table
