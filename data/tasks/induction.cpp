#include <heed/autograd/error.h>
#include <heed/data/drawn_task.h>
#include <heed/data/letters.h>
#include <heed/data/tasks/tasks.h>

#include <algorithm>
#include <cmath>

namespace heed {
namespace {

constexpr std::int64_t kInductionContext = 64, kShortest = 10, kLongest = 25;
constexpr Option<Whole> kSymbols{"alphabet", "letters and digits to draw from", {2, 64}, 64};

/// Letters at random, in which a piece of random start and length is said twice, the second time
/// right after the first.
class InductionTask : public DrawnTask {
 public:
  explicit InductionTask(const TaskOptions& options)
      : context_(options.context.value_or(kInductionContext)),
        symbols_(kSymbols.of(options)),
        tokenizer_((std::string(kLetters) + "+-").substr(0, static_cast<std::size_t>(symbols_))) {
    if (context_ + 1 < 2 * kLongest)
      throw ValueError(text("induction: context = ", context_, ": it must be at least ",
                            2 * kLongest - 1, ", for the longest piece and its repetition"));
    hold_out(1000, Rng(options.seed).stream("induction held out"));
  }

  std::int64_t context() const override { return context_; }
  const Tokenizer& tokenizer() const override { return tokenizer_; }

  /// A letter that has come before looks at the one that followed it then.
  std::vector<Cell> alignment(const Batch& batch, std::int64_t row) const override {
    const auto targets = row_of(batch.targets, row);
    std::vector<std::int64_t> asked;
    for (std::int64_t t = 0; t < context_; ++t)
      if (targets[static_cast<std::size_t>(t)] != kIgnore) asked.push_back(t);
    const std::int64_t length = std::ssize(asked) + 1;
    std::vector<Cell> cells;
    for (const std::int64_t t : asked) cells.push_back({.query = t, .key = t - length + 1});
    return cells;
  }

 private:
  Row draw(Rng& rng) const override {
    std::vector<std::int64_t> ids = draw_ids(context_ + 1, symbols_, rng);
    const std::int64_t length = kShortest + rng.integer(kLongest - kShortest + 1);
    const std::int64_t start = rng.integer(context_ + 2 - 2 * length);
    const auto piece = ids.begin() + start;
    std::copy(piece, piece + length, piece + length);
    Row row = next_token_row(ids, start + length);  // the first letter of the repetition is chance
    std::fill(row.targets.begin() + start + 2 * length - 1, row.targets.end(), kIgnore);
    return row;
  }

  std::int64_t context_, symbols_;
  CharacterTokenizer tokenizer_;
};

/// How many of the last ids, at most `length`, are those that stand `length` places before them.
std::int64_t said_again(std::span<const std::int64_t> ids, std::int64_t length) {
  const std::int64_t most = std::min(length, std::ssize(ids) - length);
  std::int64_t said = 0;
  for (auto last = ids.rbegin(); said < most && *last == last[length]; ++last) ++said;
  return said;
}

/// How much of the repetition comes after a prompt that ends in it: the piece is the one of which
/// most was said again, of equals the longest. Where nothing was, nobody knows.
std::int64_t left_to_say(std::span<const std::int64_t> prompt) {
  std::int64_t most = 1, left = kMostCount;
  for (std::int64_t length = kShortest; length <= kLongest; ++length) {
    const std::int64_t said = said_again(prompt, length);
    if (said < most) continue;
    most = said;
    left = length - said;
  }
  return left;
}

}  // namespace

TaskInfo induction_task() {
  return {
      .name = "induction",
      .summary = "go on with what was said before: needs two layers",
      .description =
          R"(A row is letters at random, in which a piece of 10 to 25 is said twice, the second time
right after the first; start and length are drawn anew for each row. The loss is on the
repetition after its first letter. A head of the second layer finds what followed the
last time (an induction head), by what a head of the first layer has written beside each
letter: the one before it. One layer cannot (--layers 1): it has no such note to find.
The loss of two layers falls suddenly, when both heads meet; with --positions learned it
does so later, and the heads find other cells to do it by.)",
      .citation = "Olsson et al. 2022, In-context Learning and Induction Heads, arXiv:2209.11895",
      .answer = left_to_say,
      .recipe = {.layers = 2,
                 .heads = 4,
                 .d_model = 64,
                 .context = kInductionContext,
                 .positions = "rotary",
                 .activation = "none",
                 .batch = 64,
                 .steps = 3000,
                 .lr = 2e-3,
                 .warmup = 100,
                 .weight_decay = 0.01,
                 .beta2 = 0.99,
                 .eval_every = 100},
      .options = {kSymbols},
      .make = [](const TaskOptions& options) { return std::make_unique<InductionTask>(options); },
  };
}

}  // namespace heed
