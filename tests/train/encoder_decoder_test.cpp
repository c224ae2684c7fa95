// An EncoderDecoder learns to write what it reads, and its heads show where it looks.
#include <gtest/gtest.h>
#include <heed/autograd/autograd.h>
#include <heed/data/data.h>
#include <heed/layers/layers.h>
#include <heed/train/train.h>

#include <algorithm>
#include <string>

namespace heed {
namespace {

constexpr std::int64_t kLetters = 8, kLength = 6, kBegin = kLetters;

/// Rows of letters in the memory, to be written again, or from the last to the first.
Batch rows_to_write(std::int64_t rows, bool reversed, Rng& rng) {
  std::vector<std::int64_t> memory, inputs, targets;
  for (std::int64_t row = 0; row < rows; ++row) {
    std::vector<std::int64_t> letters;
    for (std::int64_t i = 0; i < kLength; ++i) letters.push_back(rng.integer(kLetters));
    memory.insert(memory.end(), letters.begin(), letters.end());
    if (reversed) std::ranges::reverse(letters);
    targets.insert(targets.end(), letters.begin(), letters.end());
    inputs.push_back(kBegin);
    inputs.insert(inputs.end(), letters.begin(), letters.end() - 1);
  }
  const Shape shape{rows, kLength};
  return {.inputs = {inputs, shape}, .targets = {targets, shape}, .memory = {memory, shape}};
}

EncoderDecoder trained(bool reversed) {
  Rng rng(1);
  EncoderDecoder model(
      {.vocabulary = kLetters + 1, .context = kLength, .layers = 1, .heads = 2, .d_model = 32},
      rng);
  AdamW optimizer(parameters(model), {.lr = 3e-3, .weight_decay = 0.01});
  for (int step = 0; step < 400; ++step) {
    const Batch batch = rows_to_write(32, reversed, rng);
    optimizer.zero_grad();
    backward(cross_entropy(model(batch.memory, batch.inputs, batch.hidden), batch.targets));
    clip_grad_norm(parameters(model), 1);
    optimizer.step();
  }
  return model;
}

/// The largest mean weight that a head of cross-attention has on what is to be written.
double alignment(const EncoderDecoder& model, const Batch& batch, bool reversed) {
  const Recorder recorder(model);
  model(batch.memory, batch.inputs);
  const Tensor maps = recorder.at("decoder.blocks.0.cross.weights");  // (B, H, T, S)
  Tensor right = eye(kLength);
  if (reversed) right = flip(right, 1);
  const Tensor of_heads = sum(mean(maps, 0) * right, {-2, -1}) / double(kLength);  // (H)
  return max(of_heads, 0).values.item();
}

/// Writes the likeliest letters, one by one, from a memory that is read once.
std::vector<std::int64_t> written(const EncoderDecoder& model, const Tokens& memory) {
  DecoderCache cache = model.read(memory);
  const std::int64_t rows = memory.dim(0);
  Tokens next(std::vector<std::int64_t>(static_cast<std::size_t>(rows), kBegin), {rows, 1});
  std::vector<std::int64_t> all(static_cast<std::size_t>(memory.numel()));
  for (std::int64_t t = 0; t < kLength; ++t) {
    next = argmax(model.decoder(next, cache));  // (B, 1)
    for (std::int64_t row = 0; row < rows; ++row)
      all[static_cast<std::size_t>(row * kLength + t)] = next.data()[static_cast<std::size_t>(row)];
  }
  return all;
}

TEST(EncoderDecoder, LearnsToCopyAndToReverseWhatItReads) {
  for (const bool reversed : {false, true}) {
    const EncoderDecoder model = trained(reversed);
    const NoGrad quiet;
    Rng unseen(2);
    const Batch batch = rows_to_write(200, reversed, unseen);
    EXPECT_EQ(written(model, batch.memory), batch.targets.to_vector());
    EXPECT_GE(alignment(model, batch, reversed), 0.9) << (reversed ? "reverse" : "copy");
  }
}

}  // namespace
}  // namespace heed
