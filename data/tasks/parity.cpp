#include <heed/autograd/error.h>
#include <heed/autograd/ops/reduce.h>
#include <heed/data/drawn_task.h>
#include <heed/data/letters.h>
#include <heed/data/tasks/tasks.h>

#include <algorithm>

namespace heed {
namespace {

constexpr std::int64_t kParityContext = 64;
constexpr Option<Whole> kParityLength{
    "length", "bits of a row to train on; held-out rows fill the context", {1, 1024}, 16};

/// Bits, and at each of them whether the ones so far are odd.
class ParityTask : public DrawnTask {
 public:
  explicit ParityTask(const TaskOptions& options)
      : context_(options.context.value_or(kParityContext)), length_(kParityLength.of(options)) {
    if (context_ < length_)
      throw ValueError(
          text("parity: context = ", context_, ": it must be at least ", length_, ", the length"));
    hold_out(held_out_count(2, length_), Rng(options.seed).stream("parity held out"));
  }

  std::int64_t context() const override { return context_; }
  const Tokenizer& tokenizer() const override { return tokenizer_; }

  /// The share of right answers beyond the length of the training.
  std::vector<Figure> figures(const Batch& batch, const Answers& answers) const override {
    Figure beyond{.name = "accuracy_beyond"};
    const Tokens found = argmax(answers.logits);
    std::int64_t odd = 0;
    for (std::size_t i = 0; i < found.data().size(); ++i) {
      const auto t = static_cast<std::int64_t>(i) % context_;
      odd = (t ? odd : 0) ^ batch.inputs.data()[i];
      if (t < length_) continue;
      beyond.sum += found.data()[i] == odd;
      ++beyond.count;
    }
    return {beyond};
  }

 private:
  Row draw(Rng& rng) const override { return row(length_, rng); }
  Row draw_held_out(Rng& rng) const override { return row(context_, rng); }

  Row row(std::int64_t length, Rng& rng) const {
    Row row{.inputs = draw_ids(length, 2, rng), .targets = {}};
    std::int64_t odd = 0;
    for (const std::int64_t bit : row.inputs) {
      odd ^= bit;
      row.targets.push_back(std::ssize(row.targets) < length_ ? odd : kIgnore);
    }
    return row;
  }

  std::int64_t context_, length_;
  CharacterTokenizer tokenizer_{"01"};
};

}  // namespace

TaskInfo parity_task() {
  return {
      .name = "parity",
      .summary = "say after each bit whether the ones so far are odd",
      .description =
          R"(A row to train on is 16 bits, and the target of each is 1 if the number of ones up to it
is odd. A single bit changes every answer after it, so that nothing can be said from a
part of the row. Attention learns this for the length it has seen and, as a rule, fails
beyond it. Held-out rows have 64 bits: loss and accuracy are of the first 16, and
"accuracy beyond" is of the rest, where one half is what chance gives. Learned positions
beyond the first 16 are never trained: for the rest, see --positions rotary, alibi or
none.)",
      .citation =
          "Hahn 2020, Theoretical Limitations of Self-Attention in Neural Sequence Models, "
          "arXiv:1906.06755",
      .labels = true,
      .recipe = {.layers = 2,
                 .heads = 4,
                 .d_model = 64,
                 .context = kParityContext,
                 .batch = 64,
                 .steps = 3000,
                 .lr = 1e-3,
                 .warmup = 100,
                 .schedule = "cosine",
                 .eval_every = 250},
      .options = {kParityLength},
      .make = [](const TaskOptions& options) { return std::make_unique<ParityTask>(options); },
  };
}

}  // namespace heed
