#pragma once

#include <heed/data/task.h>

#include <cstdint>
#include <vector>

namespace heed {

/// A task made of a few batches of another one, drawn once: whether a model can learn them by heart
/// is the first thing to ask of it. Its held-out rows are those very rows.
class FixedBatches final : public Task {
 public:
  /// `count` batches of `rows` rows, those that a Trainer with this `rng` would draw first. `task`
  /// must outlive this. Throws ValueError unless count > 0 and the batches are of one shape, and as
  /// task.sample() does.
  FixedBatches(const Task& task, std::int64_t count, std::int64_t rows, const Rng& rng);

  std::int64_t context() const override { return task_.context(); }
  const Tokenizer& tokenizer() const override { return task_.tokenizer(); }
  /// One of the batches, as it was drawn.
  Batch sample(std::int64_t rows, Rng& rng) const override;
  std::int64_t held_out_rows() const override { return all_.inputs.dim(0); }
  Batch held_out(std::int64_t first, std::int64_t rows) const override;
  std::vector<Cell> alignment(const Batch& batch, std::int64_t row) const override {
    return task_.alignment(batch, row);
  }
  std::vector<Baseline> baselines() const override { return task_.baselines(); }
  std::vector<Figure> figures(const Batch& batch, const Answers& answers) const override {
    return task_.figures(batch, answers);
  }

  /// The largest share of targets that a causal model can have right: where rows begin alike and go
  /// on differently, it cannot know which of them it reads. 1 if nothing is asked.
  double most_accurate() const;

 private:
  const Task& task_;
  std::int64_t count_;
  Batch all_;  // one after the other
};

}  // namespace heed
