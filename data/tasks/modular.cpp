#include <heed/autograd/error.h>
#include <heed/data/counted_task.h>
#include <heed/data/tasks/tasks.h>
#include <heed/data/text/words.h>

#include <cmath>

namespace heed {
namespace {

constexpr std::int64_t kModularContext = 3;
constexpr Option<Whole> kModulus{"modulus", "p: the numbers are 0 to p - 1", {3, 211}, 59};
constexpr Option<Real> kFraction{
    "fraction", "share of the pairs that is trained on", {1, true}, 0.4};

std::vector<std::string> words_of(std::int64_t modulus) {
  std::vector<std::string> words;
  for (std::int64_t i = 0; i < modulus; ++i) words.push_back(written(i));
  words.push_back("=");
  return words;
}

/// Throws ValueError unless there are some to train on, and some to hold out.
std::int64_t held_out_of(std::int64_t modulus, double fraction) {
  const std::int64_t all = modulus * modulus;
  const std::int64_t held_out = std::llround((1 - fraction) * static_cast<double>(all));
  if (held_out < 1 || held_out >= all)
    throw ValueError(text("modular: fraction = ", written(fraction), ": of ", all, " pairs ",
                          held_out, " would be held out: some are needed on either side"));
  return held_out;
}

/// a b = c with c = (a + b) mod p; T = 3, and only the last position asks.
class ModularTask : public CountedTask {
 public:
  explicit ModularTask(const TaskOptions& options)
      : ModularTask(kModulus.of(options), kFraction.of(options),
                    Rng(options.seed).stream("modular held out")) {
    if (options.context.value_or(kModularContext) != kModularContext)
      throw ValueError(
          text("modular: context = ", *options.context, ": it must be ", kModularContext));
  }

  std::int64_t context() const override { return kModularContext; }
  const Tokenizer& tokenizer() const override { return tokenizer_; }

  std::vector<Baseline> baselines() const override {
    return uniform_and({{"a number by chance", std::log(static_cast<double>(modulus_))}});
  }

 private:
  ModularTask(std::int64_t modulus, double fraction, Rng rng)
      : CountedTask(modulus * modulus, held_out_of(modulus, fraction), rng),
        modulus_(modulus),
        tokenizer_(words_of(modulus)) {}

  Row row(std::int64_t number) const override {
    const std::int64_t a = number / modulus_, b = number % modulus_;
    return next_token_row(std::vector{a, b, modulus_, (a + b) % modulus_}, kModularContext - 1);
  }

  std::int64_t modulus_;
  WordTokenizer tokenizer_;
};

}  // namespace

TaskInfo modular_task() {
  return {
      .name = "modular",
      .summary = "add two numbers modulo 59, and see the model grok it",
      .description =
          R"(A row is a, b, = and (a + b) mod 59; the loss is on the last. The model is trained on 40
% of all pairs, all of them at each step, with a strong weight decay. It knows these by
heart early; accuracy on the pairs held out stays at chance, and rises long after: weight
decay has made a rule that computes the sum cheaper than the memory. With less to train
on (--fraction 0.3) the gap grows. The lines of metrics.jsonl hold both: "step" for the
pairs that are trained on, "evaluate" for those held out.)",
      .citation =
          "Power et al. 2022, Grokking, arXiv:2201.02177; Nanda et al. 2023, Progress "
          "measures for grokking via mechanistic interpretability, arXiv:2301.05217",
      .recipe = {.layers = 1,
                 .heads = 4,
                 .d_model = 64,
                 .context = kModularContext,
                 .batch = 100'000,
                 .steps = 5000,
                 .lr = 1e-3,
                 .warmup = 10,
                 .weight_decay = 1,
                 .beta2 = 0.98,
                 .eval_every = 250},
      .options = {kModulus, kFraction},
      .make = [](const TaskOptions& options) { return std::make_unique<ModularTask>(options); },
  };
}

}  // namespace heed
