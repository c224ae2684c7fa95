// A training that runs fused ops and one that runs what they are composed of are the same.
#include "support.h"

namespace heed::layer_tests {
namespace {

Tokens draw(Shape shape, Rng& rng) {
  std::vector<std::int64_t> ids(static_cast<std::size_t>(shape.numel()));
  for (std::int64_t& id : ids) id = rng.integer(5);
  return Tokens(ids, shape);
}

/// The losses of 20 steps, with what is shown under `names` put on the way if `composed`.
template <class Model, class Loss>
std::vector<double> losses(const Model& start, const std::vector<std::string>& names, bool composed,
                           Loss loss) {
  const Model model = clone(start);
  Recorder recorder(model);
  if (composed)
    for (const std::string& name : names)
      recorder.replace(name, [](const Tensor& weights) { return weights; });
  Rng data(4), dropped(5);
  std::vector<double> result;
  for (int step = 0; step < 20; ++step) {
    const Training scope(dropped);
    const Tensor found = loss(model, data);
    backward(found);
    descend(parameters(model), 0.3);
    result.push_back(found.item());
  }
  return result;
}

template <class Model, class Loss>
void expect_same_losses(Model model, const std::vector<std::string>& names, Loss loss,
                        const std::string& what) {
  for (const DType dtype : {f64, f32}) {
    to(model, dtype);
    const std::vector<double> fused = losses(model, names, false, loss);
    const std::vector<double> composed = losses(model, names, true, loss);
    for (std::size_t i = 0; i < fused.size(); ++i)
      EXPECT_NEAR(fused[i], composed[i], dtype == f64 ? 1e-10 : 2e-4)
          << what << ", step " << i << ", " << text(dtype);
    EXPECT_NE(fused.front(), fused.back());
  }
}

TransformerConfig config_of(Positions positions) {
  return {.vocabulary = 5,
          .context = 8,
          .layers = 2,
          .heads = 4,
          .kv_heads = 2,
          .d_model = 16,
          .dropout = 0.1,
          .positions = positions};
}

/// (4, 8): the first position of row 0 and the last of row 3 are padding.
Mask ends_hidden() {
  std::vector<bool> hidden(32, false);
  hidden.front() = hidden.back() = true;
  return mask(hidden, {4, 8});
}

TEST(Paths, TrainATransformerToTheSameLosses) {
  Rng rng(1);
  for (const Positions positions : kPositions)
    expect_same_losses(
        Transformer(config_of(positions), rng),
        {"blocks.0.attention.weights", "blocks.1.attention.weights"},
        [](const Transformer& model, Rng& data) {
          const Tokens ids = draw({4, 8}, data);
          return cross_entropy(model(ids, ends_hidden()), ids);
        },
        std::string(name(positions)));
}

TEST(Paths, TrainAnEncoderDecoderToTheSameLosses) {
  Rng rng(2);
  for (const Positions positions : kPositions)
    expect_same_losses(
        EncoderDecoder(config_of(positions), rng),
        {"encoder.blocks.0.attention.weights", "encoder.blocks.1.attention.weights",
         "decoder.blocks.0.attention.weights", "decoder.blocks.1.attention.weights",
         "decoder.blocks.0.cross.weights", "decoder.blocks.1.cross.weights"},
        [](const EncoderDecoder& model, Rng& data) {
          const Tokens memory = draw({4, 6}, data);
          return cross_entropy(model(memory, draw({4, 6}, data)), memory);
        },
        std::string(name(positions)));
}

}  // namespace
}  // namespace heed::layer_tests
