#pragma once

#include <heed/data/drawn_task.h>
#include <heed/data/registry.h>

#include <vector>

namespace heed {

/// x | x: after the separator the model has to say again what came before it. A row is P letters,
/// the separator and the same P letters; T = 2 P, V = letters + 1, and the P letters after the
/// separator are the targets. One head that looks back P positions is enough.
class CopyTask : public DrawnTask {
 public:
  /// options.context is 2 P, at first 30; the option "alphabet" is the number of letters. Throws
  /// ValueError if the context is odd or below 2, or the letters are not 2 to 62.
  explicit CopyTask(const TaskOptions& options = {});

  std::int64_t context() const override { return 2 * payload_; }
  const Tokenizer& tokenizer() const override { return tokenizer_; }
  std::vector<Cell> alignment(const Batch& batch, std::int64_t row) const override;
  std::vector<Baseline> baselines() const override;

 private:
  Row draw(Rng& rng) const override;

  std::int64_t payload_, alphabet_;
  CharacterTokenizer tokenizer_;
};

/// heed train copy
TaskInfo copy_task();

}  // namespace heed
