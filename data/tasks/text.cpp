#include <heed/autograd/error.h>
#include <heed/data/tasks/text.h>
#include <heed/data/text/make_tokenizer.h>

#include <cmath>
#include <utility>

namespace heed {

namespace {

constexpr std::int64_t kTextContext = 64;

std::string_view source(const TaskOptions& options) {
  return options.file.empty() ? std::string_view("the text") : options.file;
}

}  // namespace

TextTask::TextTask(std::string_view bytes, const TaskOptions& options)
    : TextTask(Clean{clean_text(bytes, source(options))}, options) {}

TextTask::TextTask(const Clean& clean, const TaskOptions& options)
    : TextTask(
          clean.text,
          options.all_held_out ? Parts{clean.text, clean.text} : split_for_training(clean.text),
          options) {}

TextTask::TextTask(const std::string& text, const Parts& parts, const TaskOptions& options)
    : tokenizer_(make_tokenizer(options, text, parts.training)),
      training_(windows(text, parts.training, options, ": the training part (the first 90 %)")),
      validation_(
          windows(text, parts.validation, options, ": the validation part (the last 10 %)")) {}

Windows TextTask::windows(std::string_view text, std::string_view part, const TaskOptions& options,
                          std::string_view which) const {
  return {encode_part(*tokenizer_, text, part, source(options)),
          options.context.value_or(kTextContext),
          heed::text(source(options), options.all_held_out ? "" : which)};
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
  std::vector<Baseline> baselines = Task::baselines();
  baselines.push_back({"unigram", entropy_of(validation_.ids().subspan(1))});
  return baselines;
}

TaskInfo text_task() {
  constexpr const char* kDescription =
      R"(A row is a piece of the file, 64 characters long, and each position has to predict the
character that follows:

  inputs   First Citize
  targets  irst Citizen

The file is UTF-8 text. Its characters (code points) are the vocabulary; the first 90 %
is trained on, from any starting point, and the last 10 % is held out and evaluated
whole. With --tokenizer bytes or bpe a token is a byte, or a piece of a word that is
learnt. Nobody knows which cells are right here: look for heads that attend to the
previous character, to the start of the word, or to the last time the same letters came.)";
  return {
      .name = "text",
      .summary = "predict the next character of a text file",
      .description = kDescription,
      .citation = "Karpathy, nanoGPT, github.com/karpathy/nanoGPT: the recipe for a CPU",
      .takes_file = true,
      .example = kDescription,
      .open_ended = true,
      .recipe = {.layers = 4,
                 .heads = 4,
                 .d_model = 128,
                 .context = kTextContext,
                 .batch = 12,
                 .steps = 2000,
                 .lr = 1e-3,
                 .min_lr = 1e-4,
                 .warmup = 100,
                 .schedule = "cosine",
                 .weight_decay = 0.1,
                 .beta2 = 0.99,
                 .eval_every = 250},
      .options = {kTokenizer, kVocabulary},
      .make =
          [](const TaskOptions& options) {
            return std::make_unique<TextTask>(content_of(options), options);
          },
  };
}

}  // namespace heed
