#include <heed/autograd/error.h>
#include <heed/autograd/ops/reduce.h>
#include <heed/data/drawn_task.h>
#include <heed/data/tasks/tasks.h>
#include <heed/data/text/words.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace heed {
namespace {

constexpr std::int64_t kMostPhrases = 4;
constexpr std::int64_t kAgreementContext =
    4 + 3 * kMostPhrases;  // the, two adjectives, noun; phrases

constexpr std::array<std::string_view, 4> kPrepositions{"near", "behind", "beside", "with"};
constexpr std::array<std::string_view, 12> kAdjectives{
    "old", "new", "big", "small", "red", "blue", "dark", "bright", "cold", "warm", "quiet", "loud"};
constexpr std::array<std::string_view, 20> kNouns{
    "key",  "door", "lamp", "table", "chair",  "book",  "boat", "house", "garden", "tower",
    "king", "girl", "boy",  "nurse", "farmer", "pilot", "dog",  "horse", "bird",   "cow"};
// Ids: the . is are, prepositions, adjectives, nouns of one, nouns of many.
constexpr std::int64_t kThe = 0, kEnd = 1, kIs = 2, kPreposition = 4;
constexpr std::int64_t kAdjective = kPreposition + std::ssize(kPrepositions);
constexpr std::int64_t kNoun = kAdjective + std::ssize(kAdjectives);

std::vector<std::string> all_words() {
  std::vector<std::string> words{"the", ".", "is", "are"};
  words.insert(words.end(), kPrepositions.begin(), kPrepositions.end());
  words.insert(words.end(), kAdjectives.begin(), kAdjectives.end());
  words.insert(words.end(), kNouns.begin(), kNouns.end());
  for (const std::string_view noun : kNouns) words.push_back(std::string(noun) + "s");
  return words;
}

bool is_noun(std::int64_t id) { return id >= kNoun; }
bool is_plural(std::int64_t noun) { return noun >= kNoun + std::ssize(kNouns); }

/// A subject, up to four phrases with a noun of their own, and the verb of the subject.
class AgreementTask : public DrawnTask {
 public:
  explicit AgreementTask(const TaskOptions& options)
      : context_(options.context.value_or(kAgreementContext)), tokenizer_(all_words()) {
    if (context_ < kAgreementContext)
      throw ValueError(
          text("agreement: context = ", context_, ": it must be at least ", kAgreementContext));
    hold_out(1000, Rng(options.seed).stream("agreement held out"));
  }

  std::int64_t context() const override { return context_; }
  const Tokenizer& tokenizer() const override { return tokenizer_; }

  /// What predicts the verb looks at the subject.
  std::vector<Cell> alignment(const Batch& batch, std::int64_t row) const override {
    const Sentence sentence = read(batch, row);
    return {{.query = sentence.asks, .key = sentence.subject}};
  }

  std::vector<Baseline> baselines() const override {
    return uniform_and({{"is or are by chance", std::log(2.)}});
  }

  /// Right verbs by the number of attractors: nouns between subject and verb of the other number.
  std::vector<Figure> figures(const Batch& batch, const Answers& answers) const override {
    std::vector<Figure> found;
    for (std::int64_t n = 0; n <= kMostPhrases; ++n)
      found.push_back({"right_with_" + written(n) + "_attractors"});
    const Tokens likeliest = argmax(answers.logits);
    for (std::int64_t row = 0; row < batch.inputs.dim(0); ++row) {
      const Sentence sentence = read(batch, row);
      const auto at = static_cast<std::size_t>(row * context_ + sentence.asks);
      Figure& figure = found[static_cast<std::size_t>(sentence.attractors)];
      figure.sum += likeliest.data()[at] == batch.targets.data()[at];
      ++figure.count;
    }
    return found;
  }

 private:
  struct Sentence {
    std::int64_t subject = -1, asks = -1, attractors = 0;
  };
  Sentence read(const Batch& batch, std::int64_t row) const {
    const auto ids = row_of(batch.inputs, row), targets = row_of(batch.targets, row);
    Sentence found;
    for (std::int64_t t = 0; t < context_; ++t) {
      const std::int64_t id = ids[static_cast<std::size_t>(t)];
      if (is_noun(id) && found.subject < 0) found.subject = t;
      if (is_noun(id))
        found.attractors +=
            is_plural(id) != is_plural(ids[static_cast<std::size_t>(found.subject)]);
      if (targets[static_cast<std::size_t>(t)] != kIgnore) found.asks = t;
    }
    return found;
  }

  Row draw(Rng& rng) const override {
    std::vector<std::int64_t> ids;
    const auto add = [&](std::int64_t first, std::int64_t words) {
      ids.push_back(first + rng.integer(words));
    };
    const auto add_noun = [&](bool plural) {
      add(kNoun + (plural ? std::ssize(kNouns) : 0), std::ssize(kNouns));
    };
    const bool plural = rng.integer(2) == 1;
    add(kThe, 1);
    for (std::int64_t n = 1 + rng.integer(2); n > 0; --n) add(kAdjective, std::ssize(kAdjectives));
    add_noun(plural);
    for (std::int64_t n = rng.integer(kMostPhrases + 1); n > 0; --n) {
      add(kPreposition, std::ssize(kPrepositions));
      add(kThe, 1);
      add_noun(rng.integer(3) == 0 ? plural : !plural);
    }
    const std::int64_t asks = std::ssize(ids) - 1;
    ids.push_back(plural ? kIs + 1 : kIs);
    ids.resize(static_cast<std::size_t>(context_ + 1), kEnd);
    Row row = next_token_row(ids, asks);
    std::fill(row.targets.begin() + asks + 1, row.targets.end(), kIgnore);
    return row;
  }

  std::int64_t context_;
  WordTokenizer tokenizer_;
};

}  // namespace

TaskInfo agreement_task() {
  return {
      .name = "agreement",
      .summary = "is or are? the verb of a subject that stands far back",
      .description =
          R"(A row is a sentence of a small grammar: the, one or two adjectives, a subject, up to four
phrases like "near the doors", and is or are. The loss is on the verb, which has the
number of the subject, whatever stands between them. A noun between them of the other
number is an attractor: two thirds of those nouns are, so that the nearest noun is a bad
guide. "right with n attractors" is the share of right verbs in sentences with n of them.
A head has to look from the last word at the subject: the one noun without a preposition
before it.)",
      .citation =
          "Linzen, Dupoux and Goldberg 2016, Assessing the Ability of LSTMs to Learn "
          "Syntax-Sensitive Dependencies, arXiv:1611.01368",
      .answer = [](auto) { return 1; },
      .recipe = {.layers = 2,
                 .heads = 4,
                 .d_model = 64,
                 .context = kAgreementContext,
                 .batch = 64,
                 .steps = 1000,
                 .lr = 1e-3,
                 .warmup = 50,
                 .schedule = "cosine",
                 .weight_decay = 0.01,
                 .eval_every = 100},
      .make = [](const TaskOptions& options) { return std::make_unique<AgreementTask>(options); },
  };
}

}  // namespace heed
