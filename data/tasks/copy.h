#pragma once

#include <heed/data/registry.h>
#include <heed/data/task.h>

#include <set>
#include <vector>

namespace heed {

/// x | x: after the separator the model has to say again what came before it. A row is P letters,
/// the separator and the same P letters; T = 2 P, V = letters + 1, and the P letters after the
/// separator are the targets. One head that looks back P positions is enough.
class CopyTask : public Task {
 public:
  /// options.context is 2 P, at first 30; options.alphabet the number of letters, at first 16.
  /// Throws ValueError if the context is odd or below 2, or the letters are not 2 to 62.
  explicit CopyTask(const TaskOptions& options = {});

  std::int64_t context() const override { return 2 * payload_; }
  const Tokenizer& tokenizer() const override { return tokenizer_; }
  Batch sample(std::int64_t rows, Rng& rng) const override;
  std::int64_t held_out_rows() const override { return std::ssize(held_out_); }
  Batch held_out(std::int64_t first, std::int64_t rows) const override;
  std::vector<Cell> alignment(const Batch& batch, std::int64_t row) const override;
  std::vector<Baseline> baselines() const override;

 private:
  using Payload = std::vector<std::int64_t>;

  Payload draw(Rng& rng) const;
  void add(const Payload& payload, NextTokenRows& rows) const;

  std::int64_t payload_, alphabet_;
  CharacterTokenizer tokenizer_;
  std::vector<Payload> held_out_;
  std::set<Payload> known_;  // the same, to be looked up
};

/// heed train copy
TaskInfo copy_task();

}  // namespace heed
