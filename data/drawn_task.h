#pragma once

#include <heed/data/task.h>

#include <unordered_set>
#include <vector>

namespace heed {

/// A task whose rows are drawn at random. The first draws, made from a seed alone, are held out;
/// what sample() draws is drawn anew where its inputs are those of a held-out row. Throws
/// ValueError if it finds no other.
class DrawnTask : public Task {
 public:
  Batch sample(std::int64_t rows, Rng& rng) const override;
  std::int64_t held_out_rows() const override { return std::ssize(held_out_); }
  Batch held_out(std::int64_t first, std::int64_t rows) const override;

 protected:
  /// A row to train on, all of one length.
  virtual Row draw(Rng& rng) const = 0;
  /// A row to hold out: one that draw() could draw, unless told otherwise, or a longer one, which
  /// shows how a model does beyond the length it has seen. Rows that begin alike are then the same.
  virtual Row draw_held_out(Rng& rng) const { return draw(rng); }

  /// Holds out `count` rows. To be called once, at the end of the constructor. Throws ValueError if
  /// count < 1, or if fewer different rows are found.
  void hold_out(std::int64_t count, Rng rng);

 private:
  std::vector<Row> held_out_;
  struct Hash {
    std::size_t operator()(const std::vector<std::int64_t>& ids) const;
  };
  // Their inputs, as far as a row to train on goes.
  std::unordered_set<std::vector<std::int64_t>, Hash> known_;
};

/// How many rows to hold out of those that `symbols` ids make in `places` places: a `part`th of
/// them, at most 1,000.
std::int64_t held_out_count(std::int64_t symbols, std::int64_t places, std::int64_t part = 2);

}  // namespace heed
