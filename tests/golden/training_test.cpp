// Optimizers, schedules and short trainings against PyTorch, see optimizers.py and so on.
#include <heed/train/train.h>

#include <functional>
#include <map>
#include <memory>

#include "golden.h"

namespace heed::golden {
namespace {

using Make = std::function<std::unique_ptr<Optimizer>(Parameters)>;

Make sgd(SgdOptions options) {
  return [options](Parameters p) { return std::make_unique<Sgd>(std::move(p), options); };
}
Make adam(AdamOptions options) {
  return [options](Parameters p) { return std::make_unique<Adam>(std::move(p), options); };
}
Make adamw(AdamWOptions options) {
  return [options](Parameters p) { return std::make_unique<AdamW>(std::move(p), options); };
}

Make rmsprop(RmspropOptions options) {
  return [options](Parameters p) { return std::make_unique<Rmsprop>(std::move(p), options); };
}

/// The vector at half the rate and with a decay of its own.
ParameterGroups apart() { return parse_groups("vec* lr=0.5 decay=0.4"); }

const std::map<std::string, Make> kOptimizers = {
    {"sgd", sgd({.lr = 0.1})},
    {"sgd_decay", sgd({.lr = 0.1, .weight_decay = 0.3})},
    {"sgd_momentum", sgd({.lr = 0.05, .momentum = 0.9, .weight_decay = 0.1})},
    {"sgd_dampening", sgd({.lr = 0.05, .momentum = 0.8, .dampening = 0.4})},
    {"sgd_nesterov", sgd({.lr = 0.05, .momentum = 0.9, .nesterov = true, .weight_decay = 0.1})},
    {"adam", adam({.lr = 0.05})},
    {"adam_l2", adam({.lr = 0.1, .beta1 = 0.8, .beta2 = 0.95, .eps = 1e-3, .weight_decay = 0.5})},
    {"adamw", adamw({.lr = 0.05, .weight_decay = 0.01})},
    {"adamw_decay",
     adamw({.lr = 0.1, .beta1 = 0.8, .beta2 = 0.95, .eps = 1e-3, .weight_decay = 0.5})},
    {"rmsprop", rmsprop({.lr = 0.05})},
    {"rmsprop_momentum",
     rmsprop({.lr = 0.02, .alpha = 0.9, .eps = 1e-3, .momentum = 0.8, .weight_decay = 0.3})},
    {"rmsprop_centered", rmsprop({.lr = 0.05, .alpha = 0.8, .centered = true})},
    {"rmsprop_centered_momentum",
     rmsprop({.lr = 0.02, .alpha = 0.95, .momentum = 0.5, .centered = true, .weight_decay = 0.1})},
    {"adamw_groups", adamw({.lr = 0.05, .weight_decay = 0.1, .groups = apart()})},
    {"sgd_groups", sgd({.lr = 0.05, .momentum = 0.9, .weight_decay = 0.1, .groups = apart()})},
};

/// A model of nothing but parameters.
struct MatrixAndVector {
  Tensor matrix = zeros({2, 3}).requires_grad_(), vector = zeros({3}).requires_grad_();

  void visit(Visitor& v) {
    v("matrix", matrix);
    v("vector", vector);
  }
};

class GoldenOptimizers : public testing::TestWithParam<json> {};

TEST_P(GoldenOptimizers, GoWhereThoseOfPyTorchGo) {
  for (const DType dtype : {f64, f32}) {
    MatrixAndVector model;
    to(model, dtype);
    fill(model);
    const auto optimizer = kOptimizers.at(GetParam()["name"])(parameters(model));
    int step = 0;
    for (const json& kept : GetParam()["steps"]) {
      while (step < kept["step"]) {
        ++step;
        optimizer->zero_grad();
        double phase = step;
        for (const NamedTensor& p : parameters(model)) {
          backward(sum(p.value * wave(p.value.shape(), phase, -1, 2).to(dtype)));
          phase += 0.25;
        }
        optimizer->step();
      }
      SCOPED_TRACE("step " + std::to_string(step));
      const double tolerance = dtype == f64 ? 1e-12 : 1e-5;
      expect_values(model.matrix, kept["values"][0], tolerance);
      expect_values(model.vector, kept["values"][1], tolerance);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Optimizers, GoldenOptimizers,
                         testing::ValuesIn(entries("optimizers.json")), by_name);

TEST(Golden, EveryOptimizerHasItsValues) {
  EXPECT_EQ(kOptimizers.size(), entries("optimizers.json").size());
}

class GoldenSchedules : public testing::TestWithParam<json> {};

TEST_P(GoldenSchedules, SetTheRatesOfPyTorch) {
  const std::string name = GetParam()["name"];
  Schedule schedule{.decay = decay_named(name), .lr = 2, .end = 8};
  if (name == "linear" || name == "cosine" || name == "wsd") schedule.min_lr = 0.25;
  if (name == "wsd" || name == "step") schedule.period = 3;
  if (name == "step") schedule.factor = 0.5;
  if (name == "noam") schedule = {.decay = Decay::noam, .lr = std::pow(16 * 4, -0.5), .warmup = 3};
  const std::vector<double> rates = GetParam()["rates"];
  for (std::size_t i = 0; i < rates.size(); ++i)
    EXPECT_NEAR(schedule.at(static_cast<std::int64_t>(i)), rates[i], 1e-12) << "step " << i;
}

INSTANTIATE_TEST_SUITE_P(Schedules, GoldenSchedules, testing::ValuesIn(entries("schedules.json")),
                         by_name);

const std::map<std::string, Make> kTrainings = {
    {"adamw", adamw({.lr = 0.01, .weight_decay = 0.1})},
    {"adam_tied", adam({.lr = 0.01})},
    {"sgd", sgd({.lr = 0.1, .momentum = 0.9})},
};

constexpr std::int64_t kVocabulary = 7, kContext = 6, kRows = 3;

/// The rows of a step; one position carries no loss.
Batch batch_of(std::int64_t step) {
  const auto drawn = whole(kRows * (kContext + 1), kVocabulary, step);
  std::vector<std::int64_t> inputs, targets;
  for (std::int64_t i = 0; i < kRows * kContext; ++i) {
    const auto at = static_cast<std::size_t>(i / kContext * (kContext + 1) + i % kContext);
    inputs.push_back(drawn[at]);
    targets.push_back(i % kContext == step % kContext ? kIgnore : drawn[at + 1]);
  }
  return {.inputs = tokens(inputs, {kRows, kContext}),
          .targets = tokens(targets, {kRows, kContext})};
}

std::vector<double> ten_losses(const std::string& name, DType dtype) {
  Rng unused(0);
  Transformer model({.vocabulary = kVocabulary,
                     .context = kContext,
                     .d_model = 8,
                     .tied_embedding = name == "adam_tied"},
                    unused);
  to(model, dtype);
  fill(model);
  const auto optimizer = kTrainings.at(name)(parameters(model));
  std::vector<double> losses;
  for (int step = 0; step < 10; ++step) {
    const Batch batch = batch_of(step);
    const Tensor loss = cross_entropy(model(batch.inputs), batch.targets);
    optimizer->zero_grad();
    backward(loss);
    optimizer->step();
    losses.push_back(loss.item());
  }
  return losses;
}

class GoldenTraining : public testing::TestWithParam<json> {};

TEST_P(GoldenTraining, LosesWhatPyTorchLoses) {
  const std::string name = GetParam()["name"];
  const std::vector<double> expected = GetParam()["losses"];
  const std::vector<double> doubles = ten_losses(name, f64), singles = ten_losses(name, f32);
  ASSERT_EQ(expected.size(), doubles.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(doubles[i], expected[i], 1e-9) << "step " << i;
    EXPECT_NEAR(singles[i], expected[i], 1e-5) << "step " << i << " in single precision";
  }
}

INSTANTIATE_TEST_SUITE_P(Training, GoldenTraining, testing::ValuesIn(entries("training.json")),
                         by_name);

}  // namespace
}  // namespace heed::golden
