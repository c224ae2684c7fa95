// Tasks as a user writes them, each of a kind that comes with nothing built in: one whose rows
// differ in length and have their cells in different places, and one with a memory for an encoder.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heed/autograd/error.h>
#include <heed/data/data.h>

#include <algorithm>

#include "support.h"

namespace heed {
namespace {

using testing::ElementsAre;

// x = x: a word of 1 to 4 letters and the same word again, padded with dots.
class Echo : public Task {
 public:
  std::int64_t context() const override { return 9; }
  const Tokenizer& tokenizer() const override { return tokenizer_; }
  std::int64_t held_out_rows() const override { return 8; }

  Batch sample(std::int64_t rows, Rng& rng) const override {
    NextTokenRows batch(rows, context());
    for (std::int64_t i = 0; i < rows; ++i) add(rng, "ab", batch);
    return batch.batch();
  }
  Batch held_out(std::int64_t first, std::int64_t rows) const override {
    require_held_out(first, rows);
    NextTokenRows batch(rows, context());
    for (std::int64_t i = first; i < first + rows; ++i) {
      Rng rng = Rng(0).stream("echo " + std::to_string(i));
      add(rng, "cd", batch);
    }
    return batch.batch();
  }
  std::vector<Cell> alignment(const Batch& batch, std::int64_t row) const override {
    const auto ids = row_of(batch.inputs, row);
    const std::int64_t separator = std::ranges::find(ids, encode("=")[0]) - ids.begin();
    std::vector<Cell> cells;
    for (std::int64_t i = 0; i < separator; ++i) cells.push_back({separator + i, i});
    return cells;
  }

 private:
  void add(Rng& rng, std::string_view letters, NextTokenRows& batch) const {
    std::string word;
    for (std::int64_t n = 1 + rng.integer(4); n > 0; --n)
      word += letters[static_cast<std::size_t>(rng.integer(2))];
    std::string row = word + "=" + word;
    row.resize(static_cast<std::size_t>(context() + 1), '.');
    batch.add(encode(row), std::ssize(word));
  }

  CharacterTokenizer tokenizer_{"abcd=."};
};

TEST(UserTask, IsRegisteredFoundAndRead) {
  const TaskInfo& copy = find_task("copy");
  register_task({.name = "echo",
                 .summary = "say a word again",
                 .citation = "none",
                 .make = [](const TaskOptions&) { return std::make_unique<Echo>(); }});
  EXPECT_EQ(&find_task("copy"), &copy) << "what was found stays where it is";
  EXPECT_EQ(tasks().back().name, "echo");
  const std::unique_ptr<Task> task = make_task("echo");
  EXPECT_EQ(task->vocabulary(), 6);
  EXPECT_EQ(task->decode(task->encode("ab=ab.")), "ab=ab.");
  EXPECT_NEAR(task->baselines().at(0).loss, std::log(6), 1e-12);
}

TEST(UserTask, CellsDifferFromRowToRow) {
  const Echo task;
  Rng rng(1);
  const Batch batch = task.sample(20, rng);
  std::vector<std::size_t> lengths;
  for (std::int64_t row = 0; row < 20; ++row) {
    const auto cells = task.alignment(batch, row);
    lengths.push_back(cells.size());
    for (const auto& [query, key] : cells)
      EXPECT_EQ(batch.targets.data()[static_cast<std::size_t>(row * 9 + query)],
                batch.inputs.data()[static_cast<std::size_t>(row * 9 + key)]);
  }
  EXPECT_EQ(*std::ranges::min_element(lengths), 1u);
  EXPECT_EQ(*std::ranges::max_element(lengths), 4u);
}

TEST(UserTask, HeldOutRowsAreCheckedByTheBase) {
  EXPECT_THROW(Echo().held_out(7, 2), IndexError);
  EXPECT_EQ(Echo().held_out(7, 1).inputs.shape(), Shape({1, 9}));
}

// One of three letters, and then an end: there are only three rows.
class Letter : public DrawnTask {
 public:
  explicit Letter(std::int64_t held_out) { hold_out(held_out, Rng(0)); }
  std::int64_t context() const override { return 1; }
  const Tokenizer& tokenizer() const override { return tokenizer_; }

 private:
  Row draw(Rng& rng) const override { return next_token_row(std::vector{rng.integer(3), kEnd}); }

  static constexpr std::int64_t kEnd = 3;
  CharacterTokenizer tokenizer_{"abc."};
};

TEST(UserTask, HoldsOutNoMoreDifferentRowsThanItDraws) {
  EXPECT_EQ(Letter(2).held_out_rows(), 2);
  EXPECT_EQ(message_of<ValueError>([] { Letter(5); }),
            "hold_out: 5 rows are asked for, but only 3 different ones were found");
  EXPECT_EQ(message_of<ValueError>([] { Letter(0); }),
            "hold_out: 0 rows are asked for: it must be at least 1");
  Rng rng(1);
  EXPECT_EQ(message_of<ValueError>([&] { Letter(3).sample(1, rng); }),
            "sample: with 3 rows held out no other was found to train on");
}

// The decoder says backwards what the encoder reads: memory abc. with its padding hidden, inputs
// =cb, targets cba.
class Backwards : public Task {
 public:
  std::int64_t context() const override { return 4; }
  const Tokenizer& tokenizer() const override { return tokenizer_; }
  std::int64_t held_out_rows() const override { return 1; }

  Batch sample(std::int64_t rows, Rng& rng) const override {
    std::vector<std::int64_t> memory, inputs, targets;
    std::vector<bool> hidden;
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t length = 1 + rng.integer(4);
      std::vector<std::int64_t> word;
      for (std::int64_t i = 0; i < length; ++i) word.push_back(rng.integer(3));
      inputs.push_back(kStart);
      for (std::int64_t i = 0; i < 4; ++i) {
        const auto back = static_cast<std::size_t>(length - 1 - i);
        memory.push_back(i < length ? word[static_cast<std::size_t>(i)] : kPadding);
        hidden.push_back(i >= length);
        targets.push_back(i < length ? word[back] : kIgnore);
        if (i < 3) inputs.push_back(i < length ? word[back] : kPadding);
      }
    }
    const Shape shape = {rows, 4};
    return {tokens(inputs, shape), tokens(targets, shape), mask(hidden, shape),
            tokens(memory, shape)};
  }
  Batch held_out(std::int64_t first, std::int64_t rows) const override {
    require_held_out(first, rows);
    Rng rng(0);
    return sample(rows, rng);
  }

 private:
  static constexpr std::int64_t kStart = 3, kPadding = 4;
  CharacterTokenizer tokenizer_{"abc=."};
};

TEST(UserTask, MemoryAndItsPaddingHaveTheirPlace) {
  const Backwards task;
  Rng rng(2);
  const Batch batch = task.sample(1, rng);
  EXPECT_EQ(batch.memory.shape(), batch.hidden.shape());
  std::string word = task.decode(batch.memory.data()), answer = task.decode(batch.targets.data());
  word.resize(word.find_last_not_of('.') + 1);
  answer.resize(word.size());
  EXPECT_EQ(std::string(word.rbegin(), word.rend()), answer);
  EXPECT_EQ(batch.hidden.count(), 4 - std::ssize(word));
}

}  // namespace
}  // namespace heed
