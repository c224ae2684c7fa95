#include <heed/autograd/error.h>
#include <heed/data/drawn_task.h>
#include <heed/data/tasks/tasks.h>
#include <heed/data/text/words.h>

#include <algorithm>
#include <cmath>

namespace heed {
namespace {

constexpr std::int64_t kRecallContext = 64;
constexpr Option<Whole> kPairs{"pairs", "of a key and its value, given and asked for", {1, 64}, 4};
constexpr Option<Whole> kRecallVocabulary{
    "vocabulary", "of keys and values, half and half", {4, 4096}, 256};

std::vector<std::string> keys_and_values(std::int64_t vocabulary) {
  std::vector<std::string> words;
  for (const char* kind : {"k", "v"})
    for (std::int64_t i = 0; i < vocabulary / 2; ++i) words.push_back(text(kind, i));
  return words;
}

/// Throws ValueError if it is odd.
std::int64_t half_of(std::int64_t vocabulary) {
  if (vocabulary % 2 != 0)
    throw ValueError(text("recall: vocabulary = ", vocabulary,
                          ": it must be even, half of it keys and half values"));
  return vocabulary / 2;
}

/// Half of the ways to give `pairs` of them, at most 1,000: (half! / (half - pairs)!)^2 / 2.
std::int64_t rows_to_hold_out(std::int64_t half, std::int64_t pairs) {
  constexpr std::int64_t kMost = 1000;
  std::int64_t all = 1;
  for (std::int64_t i = 0; i < pairs && all < 2 * kMost; ++i) all *= (half - i) * (half - i);
  return std::min(kMost, all / 2);
}

/// P pairs of a key and its value; after them, among noise, each key once more, and its value.
class RecallTask : public DrawnTask {
 public:
  explicit RecallTask(const TaskOptions& options)
      : context_(options.context.value_or(kRecallContext)),
        pairs_(kPairs.of(options)),
        half_(half_of(kRecallVocabulary.of(options))),
        tokenizer_(keys_and_values(2 * half_)) {
    if (context_ < 4 * pairs_)
      throw ValueError(text("recall: context = ", context_, ": it must be at least ", 4 * pairs_,
                            ", four times the pairs"));
    if (half_ <= pairs_)
      throw ValueError(text("recall: vocabulary = ", 2 * half_, ": it must be above ", 2 * pairs_,
                            ", twice the pairs"));
    hold_out(rows_to_hold_out(half_, pairs_), Rng(options.seed).stream("recall held out"));
  }

  std::int64_t context() const override { return context_; }
  const Tokenizer& tokenizer() const override { return tokenizer_; }

  /// The key that asks looks at the value that was given.
  std::vector<Cell> alignment(const Batch& batch, std::int64_t row) const override {
    const auto ids = row_of(batch.inputs, row);
    std::vector<Cell> cells;
    for (std::int64_t t = 2 * pairs_; t < context_; ++t)
      for (std::int64_t given = 0; given < 2 * pairs_; given += 2)
        if (ids[static_cast<std::size_t>(t)] == ids[static_cast<std::size_t>(given)])
          cells.push_back({.query = t, .key = given + 1});
    return cells;
  }

  std::vector<Baseline> baselines() const override {
    return uniform_and({{"a value by chance", std::log(static_cast<double>(half_))},
                        {"one of those given", std::log(static_cast<double>(pairs_))}});
  }

 private:
  Row draw(Rng& rng) const override {
    const std::vector<std::int64_t> keys = rng.permutation(half_);  // the first P are asked for
    const std::vector<std::int64_t> values = rng.permutation(half_);
    std::vector<std::int64_t> ids, asked(static_cast<std::size_t>(context_ + 1), 0);
    const auto add_pair = [&](std::int64_t pair) {
      ids.push_back(keys[static_cast<std::size_t>(pair)]);
      ids.push_back(half_ + values[static_cast<std::size_t>(pair)]);
    };
    for (std::int64_t i = 0; i < pairs_; ++i) add_pair(i);

    // Places of two ids each: the first P of a random order of them ask, in any order of the keys.
    const std::int64_t places = (context_ + 1 - 2 * pairs_) / 2;
    std::vector<std::int64_t> asks(static_cast<std::size_t>(places), -1);
    const std::vector<std::int64_t> order = rng.permutation(places);
    for (std::int64_t i = 0; i < pairs_; ++i)
      asks[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])] = i;
    const auto noise = [&] {  // any value, or a key that is not asked for
      const std::int64_t i = pairs_ + rng.integer(2 * half_ - pairs_);
      return i < half_ ? keys[static_cast<std::size_t>(i)] : i;
    };
    for (const std::int64_t pair : asks) {
      if (pair < 0) {
        ids.push_back(noise());
        ids.push_back(noise());
      } else {
        asked[ids.size()] = 1;
        add_pair(pair);
      }
    }
    if (std::ssize(ids) == context_) ids.push_back(noise());
    Row row = next_token_row(ids);
    for (std::size_t t = 0; t < row.targets.size(); ++t)
      if (!asked[t]) row.targets[t] = kIgnore;
    return row;
  }

  std::int64_t context_, pairs_, half_;
  WordTokenizer tokenizer_;
};

}  // namespace

TaskInfo recall_task() {
  return {
      .name = "recall",
      .summary = "look up the values of 4 keys that were given before",
      .description =
          R"(A row begins with 4 pairs of a key and its value. Among noise that follows, each key
comes once more, and the loss is on the value after it. All keys and values are drawn anew
for each row, so nothing can be learnt by heart: the model has to find the earlier key and
take what stood after it. A first layer that looks one position back and a second one that
looks for the key do it (multi-query associative recall). A model of fixed state needs
more width for more pairs; attention does not.)",
      .citation =
          "Arora et al. 2023, Zoology: Measuring and Improving Recall in Efficient Language "
          "Models, arXiv:2312.04927",
      .answer = [](auto) { return 1; },
      .recipe = {.layers = 2,
                 .heads = 1,
                 .d_model = 64,
                 .context = kRecallContext,
                 .activation = "none",
                 .batch = 64,
                 .steps = 3000,
                 .lr = 1e-3,
                 .warmup = 100,
                 .schedule = "cosine",
                 .eval_every = 250},
      .options = {kPairs, kRecallVocabulary},
      .make = [](const TaskOptions& options) { return std::make_unique<RecallTask>(options); },
  };
}

}  // namespace heed
