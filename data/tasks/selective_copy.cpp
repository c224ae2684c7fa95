#include <heed/autograd/error.h>
#include <heed/data/drawn_task.h>
#include <heed/data/letters.h>
#include <heed/data/tasks/tasks.h>

#include <algorithm>
#include <cmath>

namespace heed {
namespace {

constexpr std::int64_t kSelectiveCopyContext = 40;
constexpr char kNoise = '.';
constexpr Option<Whole> kPayload{"payload", "letters among the noise", {1, 1000}, 8};

/// P letters scattered in T - P places, the rest of which is noise; the separator; the letters
/// alone.
class SelectiveCopyTask : public DrawnTask {
 public:
  explicit SelectiveCopyTask(const TaskOptions& options)
      : context_(options.context.value_or(kSelectiveCopyContext)),
        payload_(kPayload.of(options)),
        alphabet_(kAlphabet.of(options)),
        tokenizer_(letters(alphabet_) + kSeparator + kNoise) {
    if (context_ < 2 * payload_)
      throw ValueError(text("selective-copy: context = ", context_, ": it must be at least ",
                            2 * payload_, ", twice the payload"));
    hold_out(held_out_count(alphabet_, payload_),
             Rng(options.seed).stream("selective copy held out"));
  }

  std::int64_t context() const override { return context_; }
  const Tokenizer& tokenizer() const override { return tokenizer_; }

  std::vector<Cell> alignment(const Batch& batch, std::int64_t row) const override {
    const auto ids = row_of(batch.inputs, row);
    std::vector<Cell> cells;
    for (std::int64_t i = 0; i < context_ - payload_; ++i)
      if (ids[static_cast<std::size_t>(i)] < alphabet_)
        cells.push_back({.query = context_ - payload_ + std::ssize(cells), .key = i});
    return cells;
  }

  std::vector<Baseline> baselines() const override {
    return uniform_and({{"a letter by chance", std::log(static_cast<double>(alphabet_))}});
  }

 private:
  Row draw(Rng& rng) const override {
    const std::vector<std::int64_t> payload = draw_ids(payload_, alphabet_, rng);
    const std::int64_t places = context_ - payload_;
    std::vector<std::int64_t> chosen = rng.permutation(places);
    chosen.resize(static_cast<std::size_t>(payload_));
    std::ranges::sort(chosen);
    std::vector<std::int64_t> ids(static_cast<std::size_t>(places), alphabet_ + 1);
    for (std::size_t i = 0; i < payload.size(); ++i)
      ids[static_cast<std::size_t>(chosen[i])] = payload[i];
    ids.push_back(alphabet_);
    ids.insert(ids.end(), payload.begin(), payload.end());
    return next_token_row(ids, places);
  }

  std::int64_t context_, payload_, alphabet_;
  CharacterTokenizer tokenizer_;
};

}  // namespace

TaskInfo selective_copy_task() {
  return {
      .name = "selective-copy",
      .summary = "say again 8 letters that stand among noise",
      .description =
          R"(A row is 8 letters drawn from a to p, scattered among 24 dots that mean nothing; the
separator |; and the letters without the dots. The loss is on the letters after the
separator. Where they stand is drawn anew for each row, so that no fixed distance helps:
the model has to count the letters, and to look for the one whose turn it is.)",
      .citation =
          "Gu and Dao 2023, Mamba: Linear-Time Sequence Modeling with Selective State "
          "Spaces, arXiv:2312.00752, section 3.1",
      .recipe = {.layers = 2,
                 .heads = 4,
                 .d_model = 64,
                 .context = kSelectiveCopyContext,
                 .batch = 64,
                 .steps = 3000,
                 .lr = 3e-3,
                 .warmup = 50,
                 .schedule = "cosine",
                 .weight_decay = 0.01,
                 .beta2 = 0.99,
                 .eval_every = 200},
      .options = {kPayload, kAlphabet},
      .make =
          [](const TaskOptions& options) { return std::make_unique<SelectiveCopyTask>(options); },
  };
}

}  // namespace heed
