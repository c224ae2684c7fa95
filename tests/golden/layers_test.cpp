// Layers against PyTorch's own modules with the same parameters: outputs and the gradients of every
// input and parameter, see layers.py.
#include <functional>
#include <map>

#include "golden.h"

namespace heed::golden {
namespace {

const Mask kHidden = mask({false, false, true, false, false, true, false, true}, {2, 4});
const Mask kHiddenCells = mask({true, false, false, false, false, true, false, true}, {2, 4});

/// Runs a layer and compares with an entry.
using Check = std::function<void(const json&)>;

template <class Model, class Call>
Check check(Model model, Call call) {
  return [model, call](const json& entry) mutable {
    to(model, f64);
    fill(model);
    List xs;
    for (const json& shape : entry["inputs"])
      xs.push_back(wave(shape_of(shape), 1 + 2 * static_cast<double>(xs.size())).requires_grad_());
    const Tensor y = call(model, std::as_const(xs));
    expect_values(y, entry["output"]);

    std::vector<std::string> labels(xs.size(), "an input");
    for (const NamedTensor& parameter : parameters(model)) {
      const json& expected = entry["parameters"].at(labels.size() - entry["inputs"].size());
      EXPECT_EQ(parameter.name, expected["name"]);
      EXPECT_EQ(parameter.value.shape(), shape_of(expected["shape"]));
      labels.push_back(parameter.name);
      xs.push_back(parameter.value);
    }
    ASSERT_EQ(xs.size(), entry["gradients"].size());
    const List gradients = grad(y, xs, {.seed = wave(y.shape(), 0.5)});
    for (std::size_t i = 0; i < xs.size(); ++i) {
      SCOPED_TRACE("gradient of " + labels[i]);
      expect_values(gradients[i], entry["gradients"][i]);
    }
  };
}

const auto of_x = [](const auto& layer, const List& x) { return layer(x[0]); };
const auto of_both = [](const auto& layer, const List& x) { return layer(x[0], x[1]); };

Rng unused(0);  // fill() writes over what it draws

const std::map<std::string, Check> kLayers = {
    {"linear", check(Linear(3, 5, unused), of_x)},
    {"linear_of_a_vector", check(Linear(1, 7, unused), of_x)},
    {"linear_without_bias", check(Linear(4, 1, unused, {.bias = false}), of_x)},
    {"embedding", check(Embedding(3, 2, unused),
                        [](const auto& f, const List&) {
                          return f(ids({2, 4}, 3));
                        })},
    {"position_embedding",
     check(PositionEmbedding(3, 2, unused), [](const auto& f, const List&) { return f(2); })},
    {"layer_norm", check(LayerNorm(5), of_x)},
    {"layer_norm_of_one", check(LayerNorm(1), of_x)},
    {"mlp", check(Mlp(2, 5, unused), of_x)},
    {"mlp_gelu_tanh", check(Mlp(2, 3, unused, Activation::gelu_tanh), of_x)},
    {"mlp_relu", check(Mlp(1, 4, unused, Activation::relu), of_x)},
    {"mlp_silu", check(Mlp(3, 2, unused, Activation::silu), of_x)},
    {"attention", check(MultiHeadAttention(4, 2, unused), of_x)},
    {"attention_with_one_head", check(MultiHeadAttention(3, 1, unused), of_x)},
    {"attention_of_one_token", check(MultiHeadAttention(2, 2, unused), of_x)},
    {"attention_causal", check(MultiHeadAttention(6, 3, unused, {.causal = true}), of_x)},
    {"attention_padded",
     check(MultiHeadAttention(4, 2, unused),
           [](const auto& f, const List& x) { return f(x[0], padding_mask(kHidden)); })},
    {"attention_causal_padded",
     check(MultiHeadAttention(4, 2, unused, {.causal = true}),
           [](const auto& f, const List& x) { return f(x[0], padding_mask(kHidden)); })},
    {"cross_attention", check(MultiHeadAttention(4, 2, unused), of_both)},
    {"cross_attention_padded",
     check(MultiHeadAttention(2, 2, unused),
           [](const auto& f, const List& x) { return f(x[0], x[1], padding_mask(kHidden)); })},
    {"cross_attention_hidden",
     check(MultiHeadAttention(4, 2, unused),
           [](const auto& f, const List& x) { return f(x[0], x[1], kHiddenCells); })},
    {"block", check(TransformerBlock({.d_model = 4, .causal = false}, unused), of_x)},
    {"block_causal_padded",
     check(TransformerBlock({.d_model = 4, .d_ff = 5, .activation = Activation::relu}, unused),
           [](const auto& f, const List& x) { return f(x[0], padding_mask(kHidden)); })},
    {"transformer", check(Transformer({.vocabulary = 5, .context = 4, .d_model = 4}, unused),
                          [](const auto& f, const List&) {
                            return f(ids({2, 3}, 5));
                          })},
    {"transformer_tied", check(Transformer({.vocabulary = 7,
                                            .context = 5,
                                            .layers = 1,
                                            .heads = 1,
                                            .d_model = 3,
                                            .tied_embedding = true},
                                           unused),
                               [](const auto& f, const List&) {
                                 return f(ids({1, 5}, 7, 1));
                               })},
    {"transformer_padded",
     check(Transformer({.vocabulary = 3, .context = 4, .layers = 1, .d_model = 4, .causal = false},
                       unused),
           [](const auto& f, const List&) {
             return f(ids({2, 4}, 3, 2), kHidden);
           })},
};

class GoldenLayers : public testing::TestWithParam<json> {};

TEST_P(GoldenLayers, AreThoseOfPyTorch) { kLayers.at(GetParam()["name"])(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Layers, GoldenLayers, testing::ValuesIn(entries("layers.json")), by_name);

TEST(Golden, EveryLayerHasItsValues) { EXPECT_EQ(kLayers.size(), entries("layers.json").size()); }

}  // namespace
}  // namespace heed::golden
