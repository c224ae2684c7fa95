#pragma once

#include <heed/data/task.h>

#include <vector>

namespace heed {

/// A task of so few rows that each has a number. Some, chosen by a seed alone, are held out. A
/// batch of at least as many rows as there are to train on is the full batch: each of them once.
class CountedTask : public Task {
 public:
  Batch sample(std::int64_t rows, Rng& rng) const override;
  std::int64_t held_out_rows() const override { return held_out_; }
  Batch held_out(std::int64_t first, std::int64_t rows) const override;

 protected:
  /// Rows 0 to `count - 1`, of which `held_out` are. Throws ValueError unless there are some of
  /// both.
  CountedTask(std::int64_t count, std::int64_t held_out, Rng rng);

  virtual Row row(std::int64_t number) const = 0;
  std::int64_t training_rows() const { return std::ssize(order_) - held_out_; }

 private:
  Row row_at(std::int64_t place) const { return row(order_[static_cast<std::size_t>(place)]); }

  std::vector<std::int64_t> order_;  // of all rows; those held out come first
  std::int64_t held_out_;
};

}  // namespace heed
