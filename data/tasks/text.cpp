#include <heed/autograd/error.h>
#include <heed/data/tasks/text.h>

#include <cmath>
#include <utility>

namespace heed {

TextTask::TextTask(std::string_view bytes, std::int64_t context, std::string_view source)
    : TextTask(corpus(bytes, source), context, source) {}

TextTask::TextTask(Corpus corpus, std::int64_t context, std::string_view source)
    : tokenizer_(std::move(corpus.tokenizer)),
      training_(std::move(corpus.parts.training), context,
                heed::text(source, ": the training part (the first 90 %)")),
      validation_(std::move(corpus.parts.validation), context,
                  heed::text(source, ": the validation part (the last 10 %)")) {}

TextTask::Corpus TextTask::corpus(std::string_view bytes, std::string_view source) {
  const std::string text = clean_text(bytes, source);
  CharacterTokenizer tokenizer = CharacterTokenizer::of(text);
  Parts parts = split_for_training(tokenizer.encode(text));
  return {.tokenizer = std::move(tokenizer), .parts = std::move(parts)};
}

Batch TextTask::sample(std::int64_t rows, Rng& rng) const {
  NextTokenRows batch(rows, context());
  for (std::int64_t i = 0; i < rows; ++i) batch.add(training_.at(rng.integer(training_.starts())));
  return batch.batch();
}

Batch TextTask::held_out(std::int64_t first, std::int64_t rows) const {
  require_held_out(first, rows);
  NextTokenRows batch(rows, context());
  for (std::int64_t i = first; i < first + rows; ++i) {
    const Windows::Tile tile = validation_.tile(i);
    batch.add(validation_.at(tile.start), tile.first);
  }
  return batch.batch();
}

std::vector<Baseline> TextTask::baselines() const {
  std::vector<double> count(static_cast<std::size_t>(vocabulary()));
  const auto targets = validation_.ids().subspan(1);
  for (const std::int64_t id : targets) ++count[static_cast<std::size_t>(id)];
  double entropy = 0;
  for (const double n : count) {
    const double p = n / static_cast<double>(targets.size());
    if (n > 0) entropy -= p * std::log(p);
  }
  std::vector<Baseline> baselines = Task::baselines();
  baselines.push_back({"unigram", entropy});
  return baselines;
}

TaskInfo text_task() {
  const Recipe recipe = {.layers = 4,
                         .heads = 4,
                         .d_model = 128,
                         .context = 64,
                         .batch = 12,
                         .steps = 2000,
                         .lr = 1e-3,
                         .min_lr = 1e-4,
                         .warmup = 100,
                         .schedule = "cosine",
                         .weight_decay = 0.1,
                         .beta2 = 0.99,
                         .eval_every = 250};
  return {
      .name = "text",
      .summary = "predict the next character of a text file",
      .description =
          R"(A row is a piece of the file, 64 characters long, and each position has to predict the
character that follows:

  inputs   First Citize
  targets  irst Citizen

The file is UTF-8 text. Its characters (code points) are the vocabulary; the first 90 % is
trained on, from any starting point, and the last 10 % is held out and evaluated whole.
Nobody knows which cells are right here: look for heads that attend to the previous
character, to the start of the word, or to the last time the same letters came.)",
      .citation = "Karpathy, nanoGPT, github.com/karpathy/nanoGPT: the recipe for a CPU",
      .takes_file = true,
      .open_ended = true,
      .recipe = recipe,
      .make =
          [recipe](const TaskOptions& options) {
            return std::make_unique<TextTask>(
                read_file(options.file), options.context.value_or(recipe.context), options.file);
          },
  };
}

}  // namespace heed
