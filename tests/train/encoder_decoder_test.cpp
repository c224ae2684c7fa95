// An EncoderDecoder learns to write what it reads, and its heads show where it looks.
#include <gtest/gtest.h>
#include <heed/autograd/autograd.h>
#include <heed/data/data.h>
#include <heed/layers/layers.h>
#include <heed/train/train.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace heed {
namespace {

constexpr std::int64_t kLetters = 8, kLength = 6, kBegin = kLetters, kPadding = kLetters + 1;
constexpr std::int64_t kHeldOut = 200;

/// Rows of letters in the memory, to be written again, or from the last to the first. Held out are
/// rows whose ids add up to a multiple of their number.
class Writing : public Task {
 public:
  /// `padding`: hidden positions behind the letters of the memory.
  Writing(bool reversed, std::int64_t padding) : reversed_(reversed), padding_(padding) {}

  std::int64_t context() const override { return kLength; }
  const Tokenizer& tokenizer() const override { return tokenizer_; }
  Batch sample(std::int64_t rows, Rng& rng) const override { return draw(rows, false, rng); }
  std::int64_t held_out_rows() const override { return kHeldOut; }
  Batch held_out(std::int64_t first, std::int64_t rows) const override {
    require_held_out(first, rows);
    Rng rng(2);
    for (std::int64_t row = 0; row < first; ++row) letters(true, rng);
    return draw(rows, true, rng);
  }
  std::vector<Cell> alignment(const Batch&, std::int64_t) const override {
    std::vector<Cell> cells;
    for (std::int64_t t = 0; t < kLength; ++t)
      cells.push_back({t, reversed_ ? kLength - 1 - t : t});
    return cells;
  }

 private:
  static std::vector<std::int64_t> letters(bool held_out, Rng& rng) {
    for (;;) {
      std::vector<std::int64_t> drawn;
      for (std::int64_t i = 0; i < kLength; ++i) drawn.push_back(rng.integer(kLetters));
      const std::int64_t sum = std::accumulate(drawn.begin(), drawn.end(), std::int64_t{0});
      if ((sum % kLetters == 0) == held_out) return drawn;
    }
  }

  Batch draw(std::int64_t rows, bool held_out, Rng& rng) const {
    std::vector<std::int64_t> memory, inputs, targets;
    std::vector<bool> hidden;
    for (std::int64_t row = 0; row < rows; ++row) {
      std::vector<std::int64_t> word = letters(held_out, rng);
      memory.insert(memory.end(), word.begin(), word.end());
      memory.insert(memory.end(), static_cast<std::size_t>(padding_), kPadding);
      hidden.insert(hidden.end(), kLength, false);
      hidden.insert(hidden.end(), static_cast<std::size_t>(padding_), true);
      if (reversed_) std::ranges::reverse(word);
      targets.insert(targets.end(), word.begin(), word.end());
      inputs.push_back(kBegin);
      inputs.insert(inputs.end(), word.begin(), word.end() - 1);
    }
    const Shape shape{rows, kLength}, of_memory{rows, kLength + padding_};
    return {.inputs = {inputs, shape},
            .targets = {targets, shape},
            .hidden = mask(hidden, of_memory),
            .memory = {memory, of_memory}};
  }

  bool reversed_;
  std::int64_t padding_;
  CharacterTokenizer tokenizer_{"abcdefgh>."};
};

EncoderDecoder small_model(const Task& task, std::int64_t heads) {
  Rng rng(1);
  return EncoderDecoder({.vocabulary = task.vocabulary(),
                         .context = kLength + 1,
                         .layers = 1,
                         .heads = heads,
                         .d_model = 32},
                        rng);
}

/// Writes the likeliest letters, one by one, from a memory that is read once.
std::vector<std::int64_t> written(const EncoderDecoder& model, const Batch& batch) {
  DecoderCache cache = model.read(batch.memory, batch.hidden);
  const std::int64_t rows = batch.inputs.dim(0);
  Tokens next(std::vector<std::int64_t>(static_cast<std::size_t>(rows), kBegin), {rows, 1});
  std::vector<std::int64_t> all(static_cast<std::size_t>(batch.inputs.numel()));
  for (std::int64_t t = 0; t < kLength; ++t) {
    next = argmax(model.decoder(next, cache));  // (B, 1)
    for (std::int64_t row = 0; row < rows; ++row)
      all[static_cast<std::size_t>(row * kLength + t)] = next.data()[static_cast<std::size_t>(row)];
  }
  return all;
}

TEST(EncoderDecoder, LearnsToCopyAndToReverseWhatItReads) {
  for (const bool reversed : {false, true}) {
    const Writing task(reversed, reversed ? 1 : 0);
    const EncoderDecoder model = small_model(task, 1);
    AdamW optimizer(parameters(model), {.lr = 3e-3, .weight_decay = 0.01});
    Trainer trainer(trainable(model), task, optimizer,
                    {.steps = 400, .schedule = {.lr = 3e-3}, .clip = 1}, Rng(1));
    const auto found = trainer.run();
    ASSERT_TRUE(found);
    EXPECT_EQ(found->rows, kHeldOut);
    EXPECT_EQ(found->exact_match, 1);
    EXPECT_GE(found->alignment, 0.9) << (reversed ? "reverse" : "copy");

    const NoGrad quiet;
    const Batch batch = task.held_out(0, kHeldOut);
    EXPECT_EQ(written(model, batch), batch.targets.to_vector());
  }
}

// The maps of encoder, decoder and cross-attention are all of the same shape without padding.
TEST(EncoderDecoder, IsAlignedWhereItLooksAtTheMemoryAndNowhereElse) {
  for (const std::int64_t padding : {0, 1}) {
    const Writing task(false, padding);
    const EncoderDecoder model = small_model(task, 2);
    const Batch batch = task.held_out(0, 3);
    const Answers answers = look(model, batch);
    EXPECT_EQ(answers.logits.shape(), Shape({3, kLength, task.vocabulary()}));
    ASSERT_EQ(answers.weights.size(), 1u);
    EXPECT_EQ(answers.weights[0].name, "decoder.blocks.0.cross");
    EXPECT_EQ(answers.weights[0].value.shape(), Shape({3, 2, kLength, kLength + padding}));

    const std::vector<Head> heads = look_at_heads(model, batch, alignment_cells(task, batch));
    ASSERT_EQ(heads.size(), 2u);
    for (const Head& head : heads) {
      EXPECT_EQ(head.weights.shape(), Shape({kLength, kLength + padding}));
      EXPECT_GT(head.metrics.alignment, 0);
      EXPECT_GT(head.metrics.entropy, 1);
      EXPECT_TRUE(std::isnan(head.metrics.previous_token)) << "places of two sequences";
    }
    EXPECT_EQ(evaluate(trainable(model), task, 3).rows, 3);
    EXPECT_EQ(best_alignment(heads),
              std::max(heads[0].metrics.alignment, heads[1].metrics.alignment));
  }
}

}  // namespace
}  // namespace heed
