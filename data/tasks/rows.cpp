#include <heed/autograd/error.h>
#include <heed/data/tasks/rows.h>
#include <heed/data/text/corpus.h>
#include <heed/data/text/make_tokenizer.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace heed {
namespace {

constexpr std::int64_t kRowsContext = 64;

using Pairs = std::vector<TextPair>;

/// Those to train on, and those held out: pairs of one input stay together.
struct Split {
  Pairs training, held_out;
};

Split split(const Pairs& pairs, const TaskOptions& options) {
  if (options.all_held_out) return {pairs, pairs};
  std::map<std::string_view, std::int64_t> inputs;  // each with its number
  for (const TextPair& pair : pairs) inputs.try_emplace(pair.input, std::ssize(inputs));
  const std::int64_t count = std::ssize(inputs);
  if (count < 2)
    throw FileError(text(options.file, ": all rows have one input; some are needed to train on, ",
                         "and others to hold out"));
  const double share = kRowsHeldOut.of(options) * static_cast<double>(count);
  const std::int64_t held = std::clamp(std::llround(share), 1LL, static_cast<long long>(count) - 1);
  Rng rng = Rng(options.seed).stream("rows held out");
  const std::vector<std::int64_t> order = rng.permutation(count);
  Split parts;
  for (const TextPair& pair : pairs) {
    const auto number = static_cast<std::size_t>(inputs.at(pair.input));
    (order[number] < held ? parts.held_out : parts.training).push_back(pair);
  }
  return parts;
}

std::string joined(const Pairs& pairs) {
  std::string all = "\t\n";
  for (const auto& [input, target, line] : pairs) all += input + "\t" + target + "\n";
  return all;
}

/// The user's own pairs. A row is the input, a tab, the target and the ends of lines that fill it;
/// the loss is on the target and the first end.
class RowsTask : public Task {
 public:
  RowsTask(const Pairs& pairs, const TaskOptions& options)
      : RowsTask(pairs, split(pairs, options), options) {}

  std::int64_t context() const override { return context_; }
  const Tokenizer& tokenizer() const override { return *tokenizer_; }

  Batch sample(std::int64_t rows, Rng& rng) const override {
    NextTokenRows batch(rows, context_);
    for (std::int64_t i = 0; i < rows; ++i)
      batch.add(row(training_[static_cast<std::size_t>(rng.integer(std::ssize(training_)))]));
    return batch.batch();
  }

  std::int64_t held_out_rows() const override { return std::ssize(held_out_); }
  Batch held_out(std::int64_t first, std::int64_t rows) const override {
    require_held_out(first, rows);
    NextTokenRows batch(rows, context_);
    for (std::int64_t i = first; i < first + rows; ++i)
      batch.add(row(held_out_[static_cast<std::size_t>(i)]));
    return batch.batch();
  }

  std::vector<Baseline> baselines() const override {
    std::vector<Baseline> baselines = Task::baselines();
    std::vector<std::int64_t> asked;
    for (const auto& [ids, asks] : held_out_)
      asked.insert(asked.end(), ids.begin() + asks + 1, ids.end());
    baselines.push_back({"unigram", entropy_of(asked)});
    return baselines;
  }

 private:
  /// A row without what fills it; the id at `asks` is the first that asks.
  struct Tokenized {
    std::vector<std::int64_t> ids;
    std::int64_t asks = 0;
  };

  RowsTask(const Pairs& pairs, const Split& parts, const TaskOptions& options)
      : context_(options.context.value_or(kRowsContext)),
        tokenizer_(make_tokenizer(options, joined(pairs), joined(parts.training))) {
    for (const TextPair& pair : parts.training) training_.push_back(tokenized(pair, options));
    for (const TextPair& pair : parts.held_out) held_out_.push_back(tokenized(pair, options));
    const bool for_a_model = !options.tokenizer.empty();
    if (longest_ > context_)
      throw FileError(text(options.file, ", line ", longest_line_, ": the row has ", longest_ + 1,
                           " tokens with its tab and its end; with context ", context_,
                           " it may have ", context_ + 1,
                           for_a_model ? "" : text(": choose --context ", longest_)));
  }

  Tokenized tokenized(const TextPair& pair, const TaskOptions& options) {
    Tokenized row;
    for (const std::string_view part : {std::string_view(pair.input), std::string_view("\t"),
                                        std::string_view(pair.target), std::string_view("\n")}) {
      if (part == "\t")
        row.asks = std::ssize(row.ids);  // the tab asks for the first token of the target
      try {
        const std::vector<std::int64_t> more = encode(part);
        row.ids.insert(row.ids.end(), more.begin(), more.end());
      } catch (const ValueError& error) {
        throw FileError(text(options.file, ", line ", pair.line, ": ", error.what()));
      }
    }
    const std::int64_t length = std::ssize(row.ids) - 1;
    if (length > longest_) {
      longest_ = length;
      longest_line_ = pair.line;
    }
    return row;
  }

  Row row(const Tokenized& tokenized) const {
    std::vector<std::int64_t> ids = tokenized.ids;
    const std::int64_t length = std::ssize(ids) - 1;
    ids.resize(static_cast<std::size_t>(context_ + 1), ids.back());
    Row row = next_token_row(ids, tokenized.asks);
    std::fill(row.targets.begin() + length, row.targets.end(), kIgnore);
    return row;
  }

  std::int64_t context_, longest_ = 0, longest_line_ = 0;
  std::unique_ptr<Tokenizer> tokenizer_;
  std::vector<Tokenized> training_, held_out_;
};

}  // namespace

std::vector<TextPair> parse_pairs(std::string_view bytes, std::string_view source) {
  const std::string clean = clean_text(bytes, source);
  std::string_view rest = clean;
  rest = rest.substr(0, rest.find_last_not_of('\n') + 1);
  if (rest.empty()) throw FileError(text(source, ": has no rows"));
  Pairs pairs;
  for (std::int64_t line = 1; !rest.empty(); ++line) {
    const std::string_view row = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(row.size() + 1, rest.size()));
    const auto require = [&](bool holds, const auto&... what) {
      if (!holds)
        throw FileError(
            text(source, ", line ", line, ": ", what..., "; a row is input<TAB>target"));
    };
    require(!row.empty(), "it is empty");
    const auto tabs = std::ranges::count(row, '\t');
    require(tabs > 0, "it has no tab");
    require(tabs == 1, "it has ", tabs, " tabs");
    const std::size_t tab = row.find('\t');
    require(tab > 0, "there is nothing before the tab");
    require(tab + 1 < row.size(), "there is nothing after the tab");
    pairs.push_back({std::string(row.substr(0, tab)), std::string(row.substr(tab + 1)), line});
  }
  return pairs;
}

std::unique_ptr<Task> make_rows_task(const std::vector<TextPair>& pairs,
                                     const TaskOptions& options) {
  return std::make_unique<RowsTask>(pairs, options);
}

TaskInfo rows_task() {
  return {
      .name = "rows",
      .summary = "answer as the pairs of a file of yours do",
      .description =
          R"(The file holds your own pairs, one a line: an input, a tab, and its target, in UTF-8. A
row is the input, the tab, the target and ends of lines that fill it; the loss is on the
target and the first end. A tenth of the different inputs is held out (--held-out). A
token is a character, a byte, or a piece of a word that is learnt (--tokenizer bpe
--vocabulary 512). To ask the trained model: heed sample RUN --prompt with an input and a
tab. Nobody knows which cells are right here.)",
      .citation =
          "Sutskever, Vinyals and Le 2014, Sequence to Sequence Learning with Neural "
          "Networks, arXiv:1409.3215",
      .takes_file = true,
      .example =
          "mouse\tmice\nhouse\thouses\nlouse\tlice\nspouse\tspouses\ngoose\tgeese\n"
          "moose\tmoose\nfoot\tfeet\nroot\troots\ntooth\tteeth\nbooth\tbooths\n",
      .end = "\n",
      .recipe = {.layers = 2,
                 .heads = 4,
                 .d_model = 64,
                 .context = kRowsContext,
                 .batch = 32,
                 .steps = 2000,
                 .lr = 2e-3,
                 .warmup = 50,
                 .schedule = "cosine",
                 .weight_decay = 0.01,
                 .beta2 = 0.99,
                 .eval_every = 200},
      .options = {kRowsHeldOut, kTokenizer, kVocabulary},
      .make =
          [](const TaskOptions& options) {
            return make_rows_task(parse_pairs(content_of(options), options.file), options);
          },
  };
}

}  // namespace heed
