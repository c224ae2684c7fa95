#include <heed/autograd/error.h>
#include <heed/autograd/ops/softmax.h>
#include <heed/data/drawn_task.h>
#include <heed/data/letters.h>
#include <heed/data/tasks/tasks.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace heed {
namespace {

constexpr std::int64_t kMarkovContext = 100;
constexpr Option<Whole> kStates{"states", "of the chain", {2, 16}, 3};

using Weights = std::vector<double>;

/// Uniform among all distributions over `n` states, Dirichlet(1): the gaps between n - 1 points.
Weights draw_distribution(std::int64_t n, Rng& rng) {
  Weights points{0, 1};
  for (std::int64_t i = 1; i < n; ++i) points.push_back(rng.uniform());
  std::ranges::sort(points);
  Weights gaps;
  for (std::size_t i = 1; i < points.size(); ++i) gaps.push_back(points[i] - points[i - 1]);
  return gaps;
}

std::int64_t draw_state(const Weights& p, Rng& rng) {
  double left = rng.uniform();
  std::int64_t state = 0;
  for (; state + 1 < std::ssize(p) && left >= p[static_cast<std::size_t>(state)]; ++state)
    left -= p[static_cast<std::size_t>(state)];
  return state;
}

/// What can be said of the next state from those so far.
class Counts {
 public:
  explicit Counts(std::int64_t states)
      : states_(static_cast<std::size_t>(states)),
        seen_(states_, 1),
        followed_(states_, Weights(states_, 1)) {}

  void add(std::int64_t state) {
    const auto s = static_cast<std::size_t>(state);
    if (last_) ++followed_[*last_][s];
    ++seen_[s];
    last_ = s;
  }

  Weights uniform() const { return Weights(states_, 1 / static_cast<double>(states_)); }
  /// By how often each has come; one more than it has.
  Weights unigram() const { return normalised(seen_); }
  /// By what has followed the last one: exactly what Bayes says, as every row of the chain is drawn
  /// from Dirichlet(1) and its first state tells nothing.
  Weights bigram() const { return normalised(followed_[*last_]); }

 private:
  static Weights normalised(Weights counts) {
    double sum = 0;
    for (const double count : counts) sum += count;
    for (double& count : counts) count /= sum;
    return counts;
  }

  std::size_t states_;
  std::optional<std::size_t> last_;
  Weights seen_;
  std::vector<Weights> followed_;
};

double divergence(const Weights& p, std::span<const double> log_q) {
  double sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i) sum += p[i] * (std::log(p[i]) - log_q[i]);
  return sum;
}

/// A Markov chain, drawn anew for each row, and run from any state.
class MarkovTask : public DrawnTask {
 public:
  explicit MarkovTask(const TaskOptions& options)
      : context_(options.context.value_or(kMarkovContext)),
        states_(kStates.of(options)),
        tokenizer_(letters(states_)) {
    if (context_ < 16)
      throw ValueError(text("markov: context = ", context_, ": it must be at least 16"));
    hold_out(1000, Rng(options.seed).stream("markov held out"));
  }

  std::int64_t context() const override { return context_; }
  const Tokenizer& tokenizer() const override { return tokenizer_; }

  /// On the held-out rows.
  std::vector<Baseline> baselines() const override {
    double unigram = 0, bigram = 0, count = 0;
    walk(held_out(0, held_out_rows()), [&](std::size_t, const Counts& seen, std::int64_t next) {
      const auto s = static_cast<std::size_t>(next);
      unigram -= std::log(seen.unigram()[s]);
      bigram -= std::log(seen.bigram()[s]);
      ++count;
    });
    std::vector<Baseline> baselines = Task::baselines();
    baselines.push_back({"unigram so far", unigram / count});
    baselines.push_back({"bigram so far (Bayes)", bigram / count});
    return baselines;
  }

  /// How far the model is from each way to predict, in nats, in the second half of a row: the mean
  /// of KL(way || model).
  std::vector<Figure> figures(const Batch& batch, const Answers& answers) const override {
    std::vector<Figure> kl{{"kl_uniform"}, {"kl_unigram"}, {"kl_bigram"}};
    const std::vector<double> log_q = log_softmax(answers.logits).to_vector();
    const auto n = static_cast<std::size_t>(states_), width = static_cast<std::size_t>(context_);
    walk(batch, [&](std::size_t i, const Counts& seen, std::int64_t) {
      if (i % width < width / 2) return;
      const auto model = std::span(log_q).subspan(i * n, n);
      kl[0].sum += divergence(seen.uniform(), model);
      kl[1].sum += divergence(seen.unigram(), model);
      kl[2].sum += divergence(seen.bigram(), model);
      for (Figure& figure : kl) ++figure.count;
    });
    return kl;
  }

 private:
  /// Calls f(i, seen, next) for each position i of the batch, with what was seen up to it.
  template <class F>
  void walk(const Batch& batch, F f) const {
    const auto width = static_cast<std::size_t>(context_);
    for (std::size_t i = 0; i < batch.inputs.data().size();) {
      Counts seen(states_);
      for (std::size_t t = 0; t < width; ++t, ++i) {
        seen.add(batch.inputs.data()[i]);
        f(i, seen, batch.targets.data()[i]);
      }
    }
  }

  Row draw(Rng& rng) const override {
    std::vector<Weights> chain;
    for (std::int64_t i = 0; i < states_; ++i) chain.push_back(draw_distribution(states_, rng));
    std::vector<std::int64_t> ids{rng.integer(states_)};
    while (std::ssize(ids) <= context_)
      ids.push_back(draw_state(chain[static_cast<std::size_t>(ids.back())], rng));
    return next_token_row(ids);
  }

  std::int64_t context_, states_;
  CharacterTokenizer tokenizer_;
};

}  // namespace

TaskInfo markov_task() {
  return {
      .name = "markov",
      .summary = "learn a Markov chain from the row it makes",
      .description =
          R"(A row is 100 states of a Markov chain with 3 states, which is drawn anew for each row:
every row of its matrix from Dirichlet(1). Each position has to predict the next state
from those so far. The model first says every state is as likely; then how often each has
come (unigram); and then, suddenly, what has followed this one before (bigram, which is
what Bayes says): a statistical induction head. "kl uniform", "kl unigram" and "kl
bigram" are the distances from each, in nats, in the second half of a row: one after the
other falls towards 0.)",
      .citation =
          "Edelman et al. 2024, The Evolution of Statistical Induction Heads, "
          "arXiv:2402.11004",
      .open_ended = true,
      .recipe = {.layers = 2,
                 .heads = 1,
                 .d_model = 16,
                 .context = kMarkovContext,
                 .activation = "none",
                 .batch = 64,
                 .steps = 2000,
                 .lr = 3e-3,
                 .warmup = 50,
                 .schedule = "cosine",
                 .beta2 = 0.99,
                 .eval_every = 50},
      .options = {kStates},
      .make = [](const TaskOptions& options) { return std::make_unique<MarkovTask>(options); },
  };
}

}  // namespace heed
