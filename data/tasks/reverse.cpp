#include <heed/data/drawn_task.h>
#include <heed/data/letters.h>
#include <heed/data/tasks/tasks.h>

#include <algorithm>
#include <cmath>

namespace heed {
namespace {

constexpr std::int64_t kReverseContext = 30;

/// x | x backwards. A row is P letters, the separator and the same P letters from the last to the
/// first; T = 2 P.
class ReverseTask : public DrawnTask {
 public:
  explicit ReverseTask(const TaskOptions& options)
      : payload_(payload_of("reverse", options.context.value_or(kReverseContext))),
        alphabet_(kAlphabet.of(options)),
        tokenizer_(letters(alphabet_) + kSeparator) {
    hold_out(held_out_count(alphabet_, payload_), Rng(options.seed).stream("reverse held out"));
  }

  std::int64_t context() const override { return 2 * payload_; }
  const Tokenizer& tokenizer() const override { return tokenizer_; }

  /// The separator looks at the letter before it, and each letter after it two positions further
  /// back than the one before.
  std::vector<Cell> alignment(const Batch&, std::int64_t) const override {
    std::vector<Cell> cells;
    for (std::int64_t i = 0; i < payload_; ++i)
      cells.push_back({.query = payload_ + i, .key = payload_ - 1 - i});
    return cells;
  }

  std::vector<Baseline> baselines() const override {
    return uniform_and({{"a letter by chance", std::log(static_cast<double>(alphabet_))}});
  }

 private:
  Row draw(Rng& rng) const override {
    std::vector<std::int64_t> ids = draw_ids(payload_, alphabet_, rng);
    std::vector<std::int64_t> backwards(ids.rbegin(), ids.rend());
    ids.push_back(alphabet_);
    ids.insert(ids.end(), backwards.begin(), backwards.end());
    return next_token_row(ids, payload_);
  }

  std::int64_t payload_, alphabet_;
  CharacterTokenizer tokenizer_;
};

}  // namespace

TaskInfo reverse_task() {
  return {
      .name = "reverse",
      .summary = "say 15 letters backwards after a separator",
      .description =
          R"(A row is 15 letters drawn from a to p, the separator | and the same letters from the
last to the first. The loss is on the letters after the separator. Each of them has to
look two positions further back than the one before: the map of the head that finds them
is an anti-diagonal. No fixed distance helps, as it does for copy; the head has to match
one position with another.)",
      .citation =
          "Vaswani et al. 2017, Attention Is All You Need, arXiv:1706.03762: the attention "
          "that is learnt here",
      .recipe = {.layers = 2,
                 .heads = 1,
                 .d_model = 32,
                 .context = kReverseContext,
                 .batch = 64,
                 .steps = 1000,
                 .lr = 3e-3,
                 .warmup = 20,
                 .schedule = "cosine",
                 .weight_decay = 0.01,
                 .beta2 = 0.99,
                 .eval_every = 100},
      .options = {kAlphabet},
      .make = [](const TaskOptions& options) { return std::make_unique<ReverseTask>(options); },
  };
}

}  // namespace heed
