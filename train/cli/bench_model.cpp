#include <heed/autograd/error.h>
#include <heed/data/suggest.h>
#include <heed/train/cli/bench_model.h>

#include <algorithm>

namespace heed::cli {
namespace {

/// SplitMix64's output for the state `x` (Steele et al., OOPSLA 2014, figure 17).
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

}  // namespace

const std::vector<BenchModel>& bench_models() {
  const auto model = [](std::string name, std::int64_t vocabulary, std::int64_t context,
                        std::int64_t rows, std::int64_t layers, std::int64_t heads,
                        std::int64_t d_model) -> BenchModel {
    return {std::move(name),
            {.vocabulary = vocabulary,
             .context = context,
             .layers = layers,
             .heads = heads,
             .d_model = d_model},
            rows};
  };
  static const std::vector<BenchModel> models = {model("tiny", 16, 16, 16, 1, 2, 32),
                                                 model("nanogpt-cpu", 65, 64, 12, 4, 4, 128),
                                                 model("nanogpt-256", 65, 256, 16, 4, 4, 128)};
  return models;
}

const BenchModel& bench_model(std::string_view name) {
  const auto found = std::ranges::find(bench_models(), name, &BenchModel::name);
  if (found != bench_models().end()) return *found;
  std::vector<std::string> known;
  for (const BenchModel& model : bench_models()) known.push_back(model.name);
  throw ValueError(unknown_name("model", name, known));
}

std::int64_t tokens_of_step(const BenchModel& model) { return model.rows * model.config.context; }

double flops_of_step(const BenchModel& model) {
  const TransformerConfig& config = model.config;
  const auto c = static_cast<double>(config.d_model), v = static_cast<double>(config.vocabulary);
  const auto t = static_cast<double>(config.context), layers = static_cast<double>(config.layers);
  const double linear = 2 * (4 * c * c + 2 * c * 4 * c);  // w_q to w_o, and the Mlp; of a token
  const double attention = 2 * (2 * t * c) / 2;           // scores, and their sum of values
  const double forward = layers * (linear + attention) + 2 * c * v;
  return 3 * static_cast<double>(tokens_of_step(model)) * forward;
}

Batch bench_batch(const BenchModel& model, std::int64_t n) {
  const auto ids = static_cast<std::uint64_t>(model.config.vocabulary);
  std::vector<std::int64_t> inputs, targets;
  for (std::int64_t row = n * model.rows; row < (n + 1) * model.rows; ++row) {
    std::uint64_t draw = static_cast<std::uint64_t>(row * (model.config.context + 1));
    std::uint64_t id = mixed(draw) % ids;
    for (std::int64_t i = 0; i < model.config.context; ++i) {
      inputs.push_back(static_cast<std::int64_t>(id));
      id = (5 * id + mixed(++draw) % 4) % ids;
      targets.push_back(static_cast<std::int64_t>(id));
    }
  }
  const Shape shape{model.rows, model.config.context};
  return {.inputs = {std::move(inputs), shape}, .targets = {std::move(targets), shape}};
}

}  // namespace heed::cli
