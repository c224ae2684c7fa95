#include <heed/autograd/error.h>
#include <heed/autograd/ops/reduce.h>
#include <heed/data/drawn_task.h>
#include <heed/data/letters.h>
#include <heed/data/tasks/tasks.h>

#include <algorithm>
#include <cmath>

namespace heed {
namespace {

constexpr std::int64_t kTriggerContext = 64;
constexpr std::int64_t kSuccessors = 4;    // of a letter
constexpr std::int64_t kTriggerEvery = 5;  // one letter in five is followed by a trigger
constexpr Option<Whole> kText{"letters", "of the text, a the first", {8, 26}, 20};
constexpr Option<Whole> kTriggers{"triggers", "A the first", {1, 16}, 4};

/// Text in which letters follow one another by fixed chances, and triggers have each a letter that
/// follows them, drawn anew for each row.
class TriggerTask : public DrawnTask {
 public:
  explicit TriggerTask(const TaskOptions& options)
      : context_(options.context.value_or(kTriggerContext)),
        letters_(kText.of(options)),
        triggers_(kTriggers.of(options)),
        tokenizer_(std::string(kLetters.substr(0, static_cast<std::size_t>(letters_))) +
                   std::string(kLetters.substr(26, static_cast<std::size_t>(triggers_)))) {
    if (context_ < 8)
      throw ValueError(text("trigger: context = ", context_, ": it must be at least 8"));
    Rng language = Rng(0).stream("trigger language");
    for (std::int64_t i = 0; i < letters_; ++i) {
      successors_.push_back(language.permutation(letters_));
      successors_.back().resize(kSuccessors);
    }
    hold_out(1000, Rng(options.seed).stream("trigger held out"));
  }

  std::int64_t context() const override { return context_; }
  const Tokenizer& tokenizer() const override { return tokenizer_; }

  /// A trigger that has come before looks at the letter that followed it then.
  std::vector<Cell> alignment(const Batch& batch, std::int64_t row) const override {
    std::vector<Cell> cells;
    for (const auto& [query, keys] : contexts(batch, row))
      cells.push_back({.query = query, .key = keys.back()});
    return cells;
  }

  /// By the exact chances: for who knows only what follows a letter, and for who looks back too.
  std::vector<Baseline> baselines() const override {
    const double letter = std::log(static_cast<double>(letters_));
    const auto every = static_cast<double>(kTriggerEvery);
    const double trigger = std::log(every * static_cast<double>(triggers_));
    const double successor = std::log(every / (every - 1) * static_cast<double>(kSuccessors));
    const Batch batch = held_out(0, held_out_rows());
    double bigram = 0, known = 0;
    for (std::size_t i = 0; i < batch.inputs.data().size(); ++i) {
      const bool after_trigger = batch.inputs.data()[i] >= letters_;
      const bool is_trigger = batch.targets.data()[i] >= letters_;
      bigram += after_trigger ? letter : is_trigger ? trigger : successor;
    }
    for (std::int64_t row = 0; row < batch.inputs.dim(0); ++row)
      known += letter * static_cast<double>(std::ssize(contexts(batch, row)));
    const auto count = static_cast<double>(batch.inputs.numel());
    std::vector<Baseline> baselines = Task::baselines();
    baselines.push_back({"bigram", bigram / count});
    baselines.push_back({"knowing all (Bayes)", (bigram - known) / count});
    return baselines;
  }

  /// Of the triggers that have come before in their row: where the first layer, at the letter that
  /// followed then, looks most at the trigger; where the second layer, at the trigger now, looks
  /// most at such a letter; and where the likeliest letter is the right one.
  std::vector<Figure> figures(const Batch& batch, const Answers& answers) const override {
    std::vector<Figure> found{{"previous_token"}, {"after_trigger"}, {"output_right"}};
    const Tokens likeliest = argmax(answers.logits);
    const bool looked = answers.weights.size() >= 2;
    const Tokens first = looked ? argmax(answers.weights[0].value) : Tokens();  // (B, H, T)
    const Tokens second = looked ? argmax(answers.weights[1].value) : Tokens();
    for (std::int64_t row = 0; row < batch.inputs.dim(0); ++row)
      for (const auto& [query, keys] : contexts(batch, row)) {
        const auto count = [](Figure& figure, bool right) {
          figure.sum += right;
          ++figure.count;
        };
        const auto at = static_cast<std::size_t>(row * context_ + query);
        count(found[2], likeliest.data()[at] == batch.targets.data()[at]);
        if (!looked) continue;
        count(found[0], any_head_at(first, row, keys.back(), {keys.back() - 1}));
        count(found[1], any_head_at(second, row, query, keys));
      }
    return found;
  }

 private:
  /// A trigger that has come before, and where the letters stand that followed it.
  struct Context {
    std::int64_t query;
    std::vector<std::int64_t> keys;
  };
  std::vector<Context> contexts(const Batch& batch, std::int64_t row) const {
    const auto ids = row_of(batch.inputs, row);
    std::vector<std::vector<std::int64_t>> followed(static_cast<std::size_t>(triggers_));
    std::vector<Context> found;
    for (std::int64_t t = 0; t < context_; ++t) {
      const std::int64_t trigger = ids[static_cast<std::size_t>(t)] - letters_;
      if (trigger < 0) continue;
      std::vector<std::int64_t>& keys = followed[static_cast<std::size_t>(trigger)];
      if (!keys.empty()) found.push_back({t, keys});
      keys.push_back(t + 1);
    }
    return found;
  }

  /// Whether the largest weight of a head of this query is at one of the keys.
  bool any_head_at(const Tokens& largest, std::int64_t row, std::int64_t query,
                   const std::vector<std::int64_t>& keys) const {
    for (std::int64_t head = 0; head < largest.dim(1); ++head) {
      const std::int64_t at = (row * largest.dim(1) + head) * context_ + query;
      if (std::ranges::find(keys, largest.data()[static_cast<std::size_t>(at)]) != keys.end())
        return true;
    }
    return false;
  }

  Row draw(Rng& rng) const override {
    const std::vector<std::int64_t> outputs = draw_ids(triggers_, letters_, rng);
    std::vector<std::int64_t> ids{rng.integer(letters_)};
    while (std::ssize(ids) <= context_) {
      const std::int64_t last = ids.back();
      if (last >= letters_)
        ids.push_back(outputs[static_cast<std::size_t>(last - letters_)]);
      else if (rng.integer(kTriggerEvery) == 0)
        ids.push_back(letters_ + rng.integer(triggers_));
      else
        ids.push_back(successors_[static_cast<std::size_t>(last)]
                                 [static_cast<std::size_t>(rng.integer(kSuccessors))]);
    }
    return next_token_row(ids);
  }

  std::int64_t context_, letters_, triggers_;
  CharacterTokenizer tokenizer_;
  std::vector<std::vector<std::int64_t>> successors_;
};

}  // namespace

TaskInfo trigger_task() {
  return {
      .name = "trigger",
      .summary = "learn what follows A, B, C and D in this row",
      .description =
          R"(A row is text of 20 letters, each with 4 that may follow it, always the same; among them
stand the triggers A to D, and the letter that follows each is drawn anew for each row.
The text can be learnt by heart, the triggers cannot: the second layer has to look at
what followed the trigger before, and the first to write beside each letter what came
before it. Of triggers that have come before, "previous token" is the share where the
first layer looks most at the trigger, "after trigger" where the second looks most at a
letter that followed it, "output right" where the likeliest letter is right: they rise in
some order.)",
      .citation =
          "Bietti et al. 2023, Birth of a Transformer: A Memory Viewpoint, "
          "arXiv:2306.00802",
      .open_ended = true,
      .recipe = {.layers = 2,
                 .heads = 1,
                 .d_model = 64,
                 .context = kTriggerContext,
                 .activation = "none",
                 .batch = 64,
                 .steps = 2000,
                 .lr = 3e-3,
                 .warmup = 50,
                 .beta2 = 0.99,
                 .eval_every = 50},
      .options = {kText, kTriggers},
      .make = [](const TaskOptions& options) { return std::make_unique<TriggerTask>(options); },
  };
}

}  // namespace heed
