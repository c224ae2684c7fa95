#include "layer_table.h"

#include <heed/autograd/autograd.h>
#include <heed/layers/layers.h>

#include <algorithm>
#include <regex>

namespace heed::layer_table {
namespace {

using List = std::vector<Tensor>;

constexpr auto kOfOne = [](const auto& layer, const List& xs) { return layer(xs[0]); };

/// `call(layer, inputs)`, with a layer that `make(rng)` gives and inputs of these shapes.
template <class Make, class Call = decltype(kOfOne)>
Variant variant(std::string label, Make make, std::vector<Shape> shapes, Call call = {}) {
  return {std::move(label), [=](const GradcheckOptions& options) {
            Rng rng(options.seed + 12);
            List inputs;
            for (const Shape& shape : shapes) inputs.push_back(normal(shape, rng, 0, 1, f64));
            return gradcheck_layer(make(rng), inputs, call, options);
          }};
}

/// `call`, with dropout on and the same draws each time.
template <class Call>
auto in_training(Call call) {
  return [=](const auto& layer, const List& xs) {
    Rng rng(5);
    const Training scope(rng);
    return call(layer, xs);
  };
}

/// `call` with the attention weights under `name` put on the way to the output, where the layer
/// otherwise runs a fused op.
template <class Call>
auto composed(std::string name, Call call) {
  return [=](const auto& layer, const List& xs) {
    Recorder recorder(layer);
    recorder.replace(name, [](const Tensor& weights) { return weights; });
    return call(layer, xs);
  };
}

/// Squared, where the layer alone is linear and its second gradient zero.
template <class Call>
auto squared(Call call) {
  return [=](const auto& layer, const List& xs) { return square(call(layer, xs)); };
}

Row linear() {
  const auto with = [](Rng& rng) { return Linear(3, 2, rng); };
  const auto without = [](Rng& rng) { return Linear(3, 2, rng, {.bias = false}); };
  return {"Linear",
          {variant("", with, {{2, 2, 3}}), variant("one row", with, {{3}}),
           variant("no rows", with, {{0, 3}}), variant("no bias", without, {{4, 3}}),
           variant("1 to 1", [](Rng& rng) { return Linear(1, 1, rng); }, {{2, 1}})}};
}

Row embedding() {
  const auto of = [](const Tokens& ids) {
    return squared([ids](const auto& layer, const List&) { return layer(ids); });
  };
  const auto make = [](Rng& rng) { return Embedding(4, 3, rng); };
  return {"Embedding",
          {variant("", make, {}, of(tokens({2, 0, 2, 3}, {2, 2}))),
           variant("no tokens", make, {}, of(tokens({}, {0})))}};
}

Row position_embedding() {
  const auto until = [](std::int64_t time) {
    return squared([time](const auto& layer, const List&) { return layer(time); });
  };
  const auto make = [](Rng& rng) { return PositionEmbedding(4, 3, rng); };
  const auto last = squared(
      [](const auto& layer, const List&) { return layer(std::int64_t{2}, std::int64_t{2}); });
  return {"PositionEmbedding",
          {variant("", make, {}, until(3)), variant("all", make, {}, until(4)),
           variant("none", make, {}, until(0)), variant("from a later one on", make, {}, last)}};
}

Row layer_norm() {
  const auto make = [](Rng&) { return LayerNorm(5); };
  return {"LayerNorm",
          {variant("", make, {{2, 3, 5}}), variant("no rows", make, {{0, 5}}),
           variant("eps", [](Rng&) { return LayerNorm(4, {.eps = 0.1}); }, {{3, 4}})}};
}

Row rms_norm_layer() {
  const auto make = [](Rng&) { return RmsNorm(5); };
  return {"RmsNorm",
          {variant("", make, {{2, 3, 5}}), variant("no rows", make, {{0, 5}}),
           variant("eps", [](Rng&) { return RmsNorm(4, {.eps = 0.1}); }, {{3, 4}})}};
}

Row norm() {
  const auto with = [](NormOptions options) {
    return [options](Rng&) { return Norm(4, options); };
  };
  return {"Norm",
          {variant("layer", with({}), {{3, 4}}),
           variant("rms", with({.kind = NormKind::rms, .eps = 0.1}), {{3, 4}}),
           variant("off", with({.off = true}), {{3, 4}}, squared(kOfOne))}};
}

Row dropout_layer() {
  const auto call = squared(kOfOne);
  const auto make = [](Rng&) { return Dropout(0.5); };
  return {"Dropout",
          {variant("training", make, {{3, 4}}, in_training(call)),
           variant("evaluation", make, {{3, 4}}, call)}};
}

Row mlp() {
  Row row = {"Mlp", {}};
  for (const Activation activation : kActivations)
    if (activation != Activation::none)
      row.variants.push_back(variant(std::string(name(activation)),
                                     [=](Rng& rng) { return Mlp(3, 5, rng, activation); },
                                     {{2, 3}}));
  return row;
}

Row multi_head_attention() {
  const auto make = [](AttentionConfig config) {
    return [config](Rng& rng) { return MultiHeadAttention(4, 2, rng, config); };
  };
  const Mask hidden = padding_mask(mask({false, true, false, false, false, true}, {2, 3}));
  const auto masked = [hidden](const auto& layer, const List& xs) { return layer(xs[0], hidden); };
  const auto cross = [](const auto& layer, const List& xs) { return layer(xs[0], xs[1]); };
  const auto weights = [](const auto& layer, const List& xs) {
    const Recorder recorder(layer);
    layer(xs[0]);
    return recorder.at("weights");
  };
  const auto cached = [](const auto& layer, const List& xs) {
    KeysValues past;
    const Tensor y = layer(xs[0], past);
    return concat({y, layer(xs[1], past)}, 1);
  };
  Row row = {
      "MultiHeadAttention",
      {variant("one position", make({}), {{1, 1, 4}}), variant("no rows", make({}), {{0, 3, 4}}),
       variant("recorded weights", make({.causal = true}), {{1, 3, 4}}, weights)}};
  const auto on_both_paths = [&](const std::string& label, const AttentionConfig& config,
                                 const std::vector<Shape>& shapes, auto call) {
    row.variants.push_back(variant(label, make(config), shapes, call));
    row.variants.push_back(
        variant(label + ", composed", make(config), shapes, composed("weights", call)));
  };
  on_both_paths("self", {}, {{2, 3, 4}}, kOfOne);
  on_both_paths("causal and masked", {.causal = true}, {{2, 3, 4}}, masked);
  on_both_paths("cross", {.scale = 0.8}, {{1, 2, 4}, {1, 3, 4}}, cross);
  on_both_paths("cached", {.causal = true}, {{2, 2, 4}, {2, 1, 4}}, cached);
  on_both_paths("grouped", {.causal = true, .kv_heads = 1}, {{1, 3, 4}}, kOfOne);
  on_both_paths("rotary", {.positions = Positions::rotary}, {{1, 3, 4}}, kOfOne);
  on_both_paths("alibi", {.causal = true, .positions = Positions::alibi}, {{1, 3, 4}}, kOfOne);
  on_both_paths("rotary, grouped, cached",
                {.causal = true, .kv_heads = 1, .positions = Positions::rotary},
                {{1, 2, 4}, {1, 1, 4}}, cached);
  on_both_paths("alibi, cached", {.causal = true, .positions = Positions::alibi},
                {{1, 2, 4}, {1, 1, 4}}, cached);
  on_both_paths("dropout", {.dropout = 0.4}, {{1, 3, 4}}, in_training(kOfOne));
  return row;
}

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

const std::vector<Row>& rows() {
  static const std::vector<Row> all = {linear(),        embedding(),      position_embedding(),
                                       layer_norm(),    rms_norm_layer(), norm(),
                                       mlp(),           dropout_layer(),  multi_head_attention(),
                                       block(),         transformer(),    encoder(),
                                       decoder_block(), decoder(),        encoder_decoder()};
  return all;
}

std::vector<std::string> layers_in(const std::string& header) {
  static const std::regex comment(R"(//[^\n]*)"), open(R"(\n(struct|class) (\w+)[^;{]*\{)");
  const std::string code = std::regex_replace(header, comment, "");
  std::vector<std::string> result;
  for (std::sregex_iterator at(code.begin(), code.end(), open), end; at != end; ++at) {
    const auto start = static_cast<std::size_t>(at->position()) + 1;
    const std::string body = code.substr(start, code.find("\n};", start) - start);
    if (body.find("operator()(") != std::string::npos &&
        body.find("void visit(Visitor&") != std::string::npos)
      result.push_back(at->str(2));
  }
  return result;
}

std::vector<std::string> without_row(const std::vector<std::string>& layers) {
  std::vector<std::string> result;
  for (const std::string& layer : layers)
    if (std::ranges::find(rows(), layer, &Row::layer) == rows().end()) result.push_back(layer);
  return result;
}

}  // namespace heed::layer_table
