#include <heed/autograd/error.h>
#include <heed/autograd/ops/softmax.h>
#include <heed/data/drawn_task.h>
#include <heed/data/tasks/tasks.h>

#include <algorithm>
#include <cmath>

namespace heed {
namespace {

constexpr std::int64_t kDyckContext = 128, kMostKinds = 4;
constexpr std::string_view kBrackets = "()[]{}<>";  // ids 2 k and 2 k + 1
constexpr Option<Whole> kDyckLength{
    "length", "brackets of a row to train on; held-out rows fill the context", {2, 1024}, 32};
constexpr Option<Whole> kKinds{"kinds", "of brackets", {1, kMostKinds}, 2};
constexpr Option<Whole> kDepth{"depth", "most brackets open at once", {1, 32}, 4};

/// The beginning of an endless string of balanced brackets. Where one may both open and close, each
/// is as likely; so is each kind that may open.
class DyckTask : public DrawnTask {
 public:
  explicit DyckTask(const TaskOptions& options)
      : context_(options.context.value_or(kDyckContext)),
        length_(kDyckLength.of(options)),
        kinds_(kKinds.of(options)),
        depth_(kDepth.of(options)),
        tokenizer_(kBrackets.substr(0, static_cast<std::size_t>(2 * kinds_))) {
    if (context_ < length_)
      throw ValueError(
          text("dyck: context = ", context_, ": it must be at least ", length_, ", the length"));
    if (kinds_ == 1 && depth_ == 1)
      throw ValueError("dyck: kinds = 1 and depth = 1: there is but one row, so one must be more");
    // At least every second bracket is drawn from two.
    hold_out(held_out_count(2, length_ / 2), Rng(options.seed).stream("dyck held out"));
  }

  std::int64_t context() const override { return context_; }
  const Tokenizer& tokenizer() const override { return tokenizer_; }

  /// Who predicts a closing bracket looks at the one that it closes.
  std::vector<Cell> alignment(const Batch& batch, std::int64_t row) const override {
    const auto ids = row_of(batch.inputs, row), targets = row_of(batch.targets, row);
    std::vector<Cell> cells;
    std::vector<std::int64_t> open;
    for (std::size_t t = 0; t < ids.size() && targets[t] != kIgnore; ++t) {
      follow(open, ids[t], static_cast<std::int64_t>(t));
      if (!opens(targets[t]))
        cells.push_back({.query = static_cast<std::int64_t>(t), .key = open.back()});
    }
    return cells;
  }

  /// With the entropy of the next bracket for who knows which are open.
  std::vector<Baseline> baselines() const override {
    std::vector<double> at(static_cast<std::size_t>(depth_ + 1));  // how likely each depth is
    at[0] = 1;
    double entropy = 0;
    const double kinds = std::log(static_cast<double>(kinds_));
    for (std::int64_t t = 0; t <= length_; ++t) {
      std::vector<double> next(at.size());
      for (std::size_t d = 0; d < at.size(); ++d) {
        const bool may_open = d + 1 < at.size(), may_close = d > 0;
        const double p = at[d] / (may_open && may_close ? 2 : 1);
        if (t > 0) entropy += may_open ? p * kinds : 0;
        if (t > 0 && may_open && may_close) entropy += at[d] * std::log(2.);
        if (may_open) next[d + 1] += p;
        if (may_close) next[d - 1] += p;
      }
      at = next;
    }
    std::vector<Baseline> baselines = Task::baselines();
    baselines.push_back({"knowing all (Bayes)", entropy / static_cast<double>(length_)});
    return baselines;
  }

  /// Where a bracket closes, whether the likeliest closing one does; and the probability of what
  /// may stand there. Both within the length of the training, and beyond it.
  std::vector<Figure> figures(const Batch& batch, const Answers& answers) const override {
    std::vector<Figure> found{
        {"closing_right"}, {"legal_mass"}, {"closing_right_beyond"}, {"legal_mass_beyond"}};
    const std::vector<double> p = softmax(answers.logits).to_vector();
    const auto v = static_cast<std::size_t>(vocabulary());
    const auto ids = batch.inputs.data();
    std::vector<std::int64_t> open;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const auto t = static_cast<std::int64_t>(i) % context_;
      if (t == 0) open.clear();
      follow(open, ids[i], ids[i]);
      const auto here = std::span(p).subspan(i * v, v);
      const std::size_t beyond = t < length_ ? 0 : 2;
      found[beyond + 1].sum += legal_mass(here, open);
      ++found[beyond + 1].count;
      if (t + 1 == context_ || opens(ids[i + 1])) continue;
      found[beyond].sum += likeliest_closing(here) == ids[i + 1];
      ++found[beyond].count;
    }
    return found;
  }

 private:
  static bool opens(std::int64_t id) { return id % 2 == 0; }

  /// What is open after one more bracket: `note` is what is kept of one that opens.
  static void follow(std::vector<std::int64_t>& open, std::int64_t id, std::int64_t note) {
    if (opens(id))
      open.push_back(note);
    else
      open.pop_back();
  }

  double legal_mass(std::span<const double> p, const std::vector<std::int64_t>& open) const {
    double mass = open.empty() ? 0 : p[static_cast<std::size_t>(open.back() + 1)];
    if (std::ssize(open) < depth_)
      for (std::size_t k = 0; k < p.size(); k += 2) mass += p[k];
    return mass;
  }

  std::int64_t likeliest_closing(std::span<const double> p) const {
    std::size_t best = 1;
    for (std::size_t k = 3; k < p.size(); k += 2)
      if (p[k] > p[best]) best = k;
    return static_cast<std::int64_t>(best);
  }

  Row draw(Rng& rng) const override { return row(length_, rng); }
  Row draw_held_out(Rng& rng) const override {
    Row longer = row(context_, rng);
    for (std::int64_t t = length_; t < context_; ++t)
      longer.targets[static_cast<std::size_t>(t)] = kIgnore;
    return longer;
  }

  Row row(std::int64_t length, Rng& rng) const {
    std::vector<std::int64_t> ids, open;
    while (std::ssize(ids) <= length) {
      const bool closes = !open.empty() && (std::ssize(open) == depth_ || rng.integer(2) == 0);
      ids.push_back(closes ? open.back() + 1 : 2 * rng.integer(kinds_));
      follow(open, ids.back(), ids.back());
    }
    return next_token_row(ids);
  }

  std::int64_t context_, length_, kinds_, depth_;
  CharacterTokenizer tokenizer_;
};

}  // namespace

TaskInfo dyck_task() {
  return {
      .name = "dyck",
      .summary = "close brackets of two kinds in the right order",
      .description =
          R"(A row to train on is the first 32 of an endless string of brackets that are closed in the
right order, at most 4 of them open at once; each position has to predict what follows.
Whether a bracket opens or closes is chance. But which kind may close is that of the last
one still open, wherever it stands: "closing right" says how often the likeliest closing
bracket is the right one, "legal mass" how much probability stands on what may follow.
Held-out rows have 128 brackets; what is "beyond" is past the length of the training.
Learned positions beyond that length are never trained: for what is beyond, see
--positions rotary, alibi or none.)",
      .citation =
          "Hewitt et al. 2020, RNNs can generate bounded hierarchical languages with optimal "
          "memory, arXiv:2010.07515; Yao et al. 2021, arXiv:2105.11115",
      .open_ended = true,
      .recipe = {.layers = 2,
                 .heads = 2,
                 .d_model = 32,
                 .context = kDyckContext,
                 .batch = 64,
                 .steps = 2000,
                 .lr = 3e-3,
                 .warmup = 50,
                 .schedule = "cosine",
                 .weight_decay = 0.01,
                 .beta2 = 0.99,
                 .eval_every = 200},
      .options = {kDyckLength, kKinds, kDepth},
      .make = [](const TaskOptions& options) { return std::make_unique<DyckTask>(options); },
  };
}

}  // namespace heed
