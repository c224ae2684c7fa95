// What replaced and silenced activations do, and the gradients of recorded ones.
#include <cmath>

#include "support.h"

namespace heed::layer_tests {
namespace {

Tokens some_tokens() { return tokens({3, 0, 4, 2, 1, 1, 0, 4}, {2, 4}); }

/// The model in f64 with grouped heads and rotary positions, and a loss of it.
struct Grouped {
  Rng rng{5};
  Transformer model{{.vocabulary = 5,
                     .context = 4,
                     .layers = 2,
                     .heads = 4,
                     .kv_heads = 2,
                     .d_model = 8,
                     .positions = Positions::rotary},
                    rng};

  Grouped() {
    to(model, f64);
    stir(model, rng);
  }
  Tensor loss() const { return cross_entropy(model(some_tokens()), some_tokens()); }
};

/// The slope of `loss` along `direction` where `name` is shown, by what comes of a change there.
template <class Loss>
double slope_by_differences(Recorder& recorder, const std::string& name, const Tensor& direction,
                            const Loss& loss) {
  constexpr double kStep = 1e-5;
  const auto moved = [&](double step) {
    recorder.replace(name, [&](const Tensor& x) { return x + step * direction; });
    return loss().item();
  };
  return (moved(kStep) - moved(-kStep)) / (2 * kStep);
}

TEST(Interventions, FollowedWeightsHaveTheGradientOfWhatComesOfThem) {
  const Grouped f;
  const double plain = f.loss().item();
  Recorder recorder(f.model);
  const std::string name = "blocks.0.attention.weights";
  recorder.replace(name, unchanged);
  const Tensor loss = f.loss(), weights = recorder.at(name);
  EXPECT_NEAR(loss.item(), plain, 1e-12);
  Rng rng(8);
  const Tensor direction = normal(weights.shape(), rng, 0, 1, f64);
  const double slope = sum(grad(loss, weights) * direction).item();
  EXPECT_GT(std::abs(slope), 1e-6);
  EXPECT_NEAR(slope, slope_by_differences(recorder, name, direction, [&] { return f.loss(); }),
              1e-8);
}

TEST(Interventions, WhatIsOnTheWayAnywayHasItsGradientToo) {
  Rng rng(3);
  Linear inner(3, 3, rng);
  struct Shown {
    Linear& inner;
    Tensor operator()(const Tensor& x) const { return square(observe(*this, "y", inner(x))); }
    void visit(Visitor& v) { v("inner", inner); }
  };
  const Shown layer{inner};
  Recorder recorder(layer);
  const Tensor loss = sum(layer(ones({2, 3})));
  const Tensor y = recorder.at("y");
  EXPECT_EQ(grad(loss, y).to_vector(), (2. * y).to_vector());
}

TEST(Interventions, ASilencedHeadAddsNothing) {
  const Grouped f;
  const MultiHeadAttention& attention = f.model.blocks[1].attention;
  Rng rng(2);
  const Tensor x = normal({2, 3, 8}, rng, 0, 1, f64);
  Recorder recorder(attention);
  const auto without = [&](std::int64_t head) {
    recorder.replace("weights", silence_head(head));
    const Tensor y = attention(x);
    EXPECT_EQ(norm(slice(recorder.at("weights"), 1, head, head + 1)).item(), 0);
    return y;
  };
  Tensor sum_of_losses = zeros({2, 3, 8}, f64);
  recorder.replace("weights", unchanged);
  const Tensor whole = attention(x);
  for (std::int64_t head = 0; head < 4; ++head) {
    const Tensor lost = whole - without(head);
    EXPECT_GT(norm(lost).item(), 1e-3);
    sum_of_losses = sum_of_losses + lost;
  }
  // What the heads add, one by one, is all but the bias of the output.
  expect_near(sum_of_losses, (whole - attention.w_o.bias).to_vector(), 1e-12);
  EXPECT_THROW(without(4), IndexError);
  EXPECT_THROW(without(-1), IndexError);
  EXPECT_THROW(silence_head(0)(ones({2, 2})), ShapeError);
}

TEST(Interventions, ASilencedHeadHasNoGradient) {
  const Grouped f;
  Recorder recorder(f.model);
  recorder.replace("blocks.1.attention.weights", silence_head(2));
  const Tensor slope = grad(f.loss(), f.model.blocks[1].attention.w_q.weight);  // (C, C)
  for (std::int64_t head = 0; head < 4; ++head) {
    const double of_head = norm(slice(slope, 1, 2 * head, 2 * head + 2)).item();
    EXPECT_EQ(of_head == 0, head == 2) << head;
  }
}

}  // namespace
}  // namespace heed::layer_tests
