#include "layer_rows.h"

namespace heed::layer_table {
namespace {

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

}  // namespace

std::vector<Row> part_rows() {
  return {linear(), embedding(), position_embedding(), layer_norm(),          rms_norm_layer(),
          norm(),   mlp(),       dropout_layer(),      multi_head_attention()};
}

}  // namespace heed::layer_table
