#include <heed/autograd/error.h>
#include <heed/data/tasks/copy.h>

#include <cmath>

namespace heed {
namespace {

constexpr std::string_view kLetters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
constexpr char kSeparator = '|';
constexpr std::int64_t kContext = 30;
constexpr std::int64_t kAlphabet = 16;

std::int64_t payload_of(std::int64_t context) {
  if (context < 2 || context % 2 != 0)
    throw ValueError(text("copy: context = ", context,
                          ": it must be even and at least 2, twice the letters to copy"));
  return context / 2;
}

std::string characters_of(std::int64_t alphabet) {
  if (alphabet < 2 || alphabet > std::ssize(kLetters))
    throw ValueError(text("copy: alphabet = ", alphabet, ": it must be 2 to ", kLetters.size()));
  return std::string(kLetters.substr(0, static_cast<std::size_t>(alphabet))) + kSeparator;
}

// At most 1,000, and no more than half of the payloads that there are.
std::int64_t held_out_count(std::int64_t alphabet, std::int64_t payload) {
  constexpr std::int64_t kMost = 1000;
  std::int64_t payloads = 1;
  for (std::int64_t i = 0; i < payload && payloads < 2 * kMost; ++i) payloads *= alphabet;
  return std::min(kMost, payloads / 2);
}

}  // namespace

CopyTask::CopyTask(const TaskOptions& options)
    : payload_(payload_of(options.context.value_or(kContext))),
      alphabet_(options.alphabet.value_or(kAlphabet)),
      tokenizer_(characters_of(alphabet_)) {
  Rng rng = Rng(options.seed).stream("copy held out");
  const std::int64_t count = held_out_count(alphabet_, payload_);
  while (std::ssize(held_out_) < count) {
    Payload payload = draw(rng);
    if (known_.insert(payload).second) held_out_.push_back(std::move(payload));
  }
}

CopyTask::Payload CopyTask::draw(Rng& rng) const {
  Payload payload;
  for (std::int64_t i = 0; i < payload_; ++i) payload.push_back(rng.integer(alphabet_));
  return payload;
}

void CopyTask::add(const Payload& payload, NextTokenRows& rows) const {
  Payload row = payload;
  row.push_back(alphabet_);
  row.insert(row.end(), payload.begin(), payload.end());
  rows.add(row, payload_);
}

Batch CopyTask::sample(std::int64_t rows, Rng& rng) const {
  NextTokenRows batch(rows, context());
  for (std::int64_t i = 0; i < rows; ++i) {
    Payload payload = draw(rng);
    while (known_.contains(payload)) payload = draw(rng);
    add(payload, batch);
  }
  return batch.batch();
}

Batch CopyTask::held_out(std::int64_t first, std::int64_t rows) const {
  require_held_out(first, rows);
  NextTokenRows batch(rows, context());
  for (std::int64_t i = first; i < first + rows; ++i)
    add(held_out_[static_cast<std::size_t>(i)], batch);
  return batch.batch();
}

std::vector<Cell> CopyTask::alignment(const Batch&, std::int64_t) const {
  std::vector<Cell> cells;
  for (std::int64_t i = 0; i < payload_; ++i) cells.push_back({.query = payload_ + i, .key = i});
  return cells;
}

std::vector<Baseline> CopyTask::baselines() const {
  std::vector<Baseline> baselines = Task::baselines();
  baselines.push_back({"a letter by chance", std::log(static_cast<double>(alphabet_))});
  return baselines;
}

TaskInfo copy_task() {
  return {
      .name = "copy",
      .summary = "say 15 letters again after a separator",
      .description =
          R"(A row is 15 letters drawn from a to p, the separator | and the same 15 letters:

  abcponmlkafffeb|abcponmlkafffeb

The loss is on the letters after the separator: nothing else can be known. What the
separator and each letter after it have to predict stands exactly 15 positions back, so
one head is enough, and its map is a bright diagonal, 15 below the main one. The model
has to find this from the positions: the letters are drawn anew for every row.)",
      .citation =
          "Graves, Wayne and Danihelka 2014, Neural Turing Machines, arXiv:1410.5401, "
          "section 4.1",
      .recipe = {.layers = 2,
                 .heads = 2,
                 .d_model = 32,
                 .context = kContext,
                 .batch = 32,
                 .steps = 300,
                 .lr = 3e-3,
                 .warmup = 10,
                 .schedule = "constant",
                 .weight_decay = 0.01,
                 .beta2 = 0.99,
                 .eval_every = 50},
      .make = [](const TaskOptions& options) { return std::make_unique<CopyTask>(options); },
  };
}

}  // namespace heed
