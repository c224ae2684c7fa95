#include <heed/data/letters.h>
#include <heed/data/tasks/copy.h>

#include <cmath>

namespace heed {
namespace {

constexpr std::int64_t kCopyContext = 30;

}  // namespace

CopyTask::CopyTask(const TaskOptions& options)
    : payload_(payload_of("copy", options.context.value_or(kCopyContext))),
      alphabet_(kAlphabet.of(options)),
      tokenizer_(letters(alphabet_) + kSeparator) {
  hold_out(held_out_count(alphabet_, payload_), Rng(options.seed).stream("copy held out"));
}

Row CopyTask::draw(Rng& rng) const {
  std::vector<std::int64_t> ids = draw_ids(payload_, alphabet_, rng);
  ids.push_back(alphabet_);
  for (std::int64_t i = 0; i < payload_; ++i) ids.push_back(ids[static_cast<std::size_t>(i)]);
  return next_token_row(ids, payload_);
}

std::vector<Cell> CopyTask::alignment(const Batch&, std::int64_t) const {
  std::vector<Cell> cells;
  for (std::int64_t i = 0; i < payload_; ++i) cells.push_back({.query = payload_ + i, .key = i});
  return cells;
}

std::vector<Baseline> CopyTask::baselines() const {
  return uniform_and({{"a letter by chance", std::log(static_cast<double>(alphabet_))}});
}

TaskInfo copy_task() {
  return {
      .name = "copy",
      .summary = "say 15 letters again after a separator",
      .description =
          R"(A row is 15 letters drawn from a to p, the separator | and the same 15 letters. The loss
is on the letters after the separator: nothing else can be known. What the separator and
each letter after it have to predict stands exactly 15 positions back, so one head is
enough, and its map is a bright diagonal, 15 below the main one. The model has to find
this from the positions: the letters are drawn anew for every row.)",
      .citation =
          "Graves, Wayne and Danihelka 2014, Neural Turing Machines, arXiv:1410.5401, "
          "section 4.1",
      .recipe = {.layers = 2,
                 .heads = 2,
                 .d_model = 32,
                 .context = kCopyContext,
                 .batch = 32,
                 .steps = 300,
                 .lr = 3e-3,
                 .warmup = 10,
                 .schedule = "constant",
                 .weight_decay = 0.01,
                 .beta2 = 0.99,
                 .eval_every = 50},
      .options = {kAlphabet},
      .make = [](const TaskOptions& options) { return std::make_unique<CopyTask>(options); },
  };
}

}  // namespace heed
