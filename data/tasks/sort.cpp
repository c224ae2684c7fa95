#include <heed/autograd/error.h>
#include <heed/data/drawn_task.h>
#include <heed/data/tasks/tasks.h>

#include <algorithm>
#include <cmath>

namespace heed {
namespace {

constexpr std::int64_t kSortContext = 11;
constexpr std::string_view kDigits = "0123456789";
constexpr Option<Whole> kSortSymbols{"digits", "digits to draw from, 0 the first", {2, 10}, 3};

std::int64_t length_of(std::int64_t context) {
  if (context < 3 || context % 2 == 0)
    throw ValueError(text("sort: context = ", context,
                          ": it must be odd and at least 3, one less than twice the digits"));
  return (context + 1) / 2;
}

/// L digits, and then the same in order; T = 2 L - 1, and the last digit that is given already asks
/// for the smallest.
class SortTask : public DrawnTask {
 public:
  explicit SortTask(const TaskOptions& options)
      : length_(length_of(options.context.value_or(kSortContext))),
        symbols_(kSortSymbols.of(options)),
        tokenizer_(kDigits.substr(0, static_cast<std::size_t>(symbols_))) {
    hold_out(held_out_count(symbols_, length_, 4), Rng(options.seed).stream("sort held out"));
  }

  std::int64_t context() const override { return 2 * length_ - 1; }
  const Tokenizer& tokenizer() const override { return tokenizer_; }

  /// The query that asks for a digit looks at every place where it was given: the first of them
  /// stands for all.
  std::vector<Cell> alignment(const Batch& batch, std::int64_t row) const override {
    const auto length = static_cast<std::size_t>(length_);
    const auto given = row_of(batch.inputs, row).first(length);
    std::vector<std::int64_t> places(length);
    for (std::size_t i = 0; i < length; ++i) places[i] = static_cast<std::int64_t>(i);
    std::ranges::stable_sort(places, {},
                             [&](std::int64_t i) { return given[static_cast<std::size_t>(i)]; });
    std::vector<Cell> cells;
    for (std::int64_t i = 0; i < length_; ++i)
      cells.push_back({.query = length_ - 1 + i, .key = places[static_cast<std::size_t>(i)]});
    return cells;
  }

 private:
  /// Half of the rows draw from half as many digits as they are long: many repeats are rare, and
  /// hardest.
  Row draw(Rng& rng) const override {
    std::vector<std::int64_t> digits = rng.permutation(symbols_);
    if (rng.uniform() < 0.5)
      digits.resize(static_cast<std::size_t>(std::clamp(length_ / 2, std::int64_t{1}, symbols_)));
    std::vector<std::int64_t> ids;
    for (std::int64_t i = 0; i < length_; ++i)
      ids.push_back(digits[static_cast<std::size_t>(rng.integer(std::ssize(digits)))]);
    std::vector<std::int64_t> sorted = ids;
    std::ranges::sort(sorted);
    ids.insert(ids.end(), sorted.begin(), sorted.end());
    return next_token_row(ids, length_ - 1);
  }

  std::int64_t length_, symbols_;
  CharacterTokenizer tokenizer_;
};

}  // namespace

TaskInfo sort_task() {
  return {
      .name = "sort",
      .summary = "say 6 digits again in order",
      .description =
          R"(A row is 6 digits drawn from 0 to 2, and then the same digits from the smallest to the
largest. The loss is on the sorted ones; the last digit that is given already asks for the
first of them. The model has to count: how many 0, how many 1 there were. A quarter of the
729 rows is held out. It is the demonstration of minGPT, with its configuration.)",
      .citation = "Karpathy, minGPT, github.com/karpathy/minGPT: demo.ipynb",
      .recipe = {.layers = 3,
                 .heads = 3,
                 .d_model = 48,
                 .context = kSortContext,
                 .dropout = 0.1,
                 .activation = "gelu_tanh",
                 .batch = 64,
                 .steps = 2000,
                 .lr = 5e-4,
                 .weight_decay = 0.1,
                 .decays = "weights",
                 .beta2 = 0.95,
                 .eval_every = 100},
      .options = {kSortSymbols},
      .make = [](const TaskOptions& options) { return std::make_unique<SortTask>(options); },
  };
}

}  // namespace heed
