#pragma once

#include <heed/autograd/tokens_mask.h>

#include <cstdint>
#include <span>
#include <vector>

namespace heed {

/// What one training step sees. B rows, T positions, S positions of the memory.
struct Batch {
  Tokens inputs = {};   ///< (B, T)
  Tokens targets = {};  ///< (B, T): what position t should predict; kIgnore where nothing is asked
  /// Which ids are padding that no query may see: of `memory`, (B, S), if there is one, else of
  /// `inputs`, (B, T). Undefined if there is no padding.
  Mask hidden = {};
  Tokens memory = {};  ///< (B, S): what an encoder reads; undefined for a decoder alone
};

/// Row `row` of (B, T) ids. Throws IndexError unless there is one.
std::span<const std::int64_t> row_of(const Tokens& ids, std::int64_t row);

/// One row of a batch.
struct Row {
  std::vector<std::int64_t> inputs;   ///< T ids
  std::vector<std::int64_t> targets;  ///< T: what each should predict; kIgnore where nothing is
};

/// A row of next-token prediction: of T + 1 ids the first T are inputs and the last T targets,
/// those of positions `first` to T - 1. Throws ShapeError for no ids.
Row next_token_row(std::span<const std::int64_t> ids, std::int64_t first = 0);

/// Builds a batch row by row.
class NextTokenRows {
 public:
  /// Throws ValueError if there is no row or no position.
  NextTokenRows(std::int64_t rows, std::int64_t context);

  /// A row of T positions. Throws ShapeError on another length, and if the batch is full.
  void add(const Row& row);
  /// next_token_row() of T + 1 ids.
  void add(std::span<const std::int64_t> ids, std::int64_t first = 0);

  /// The rows so far added. Throws ShapeError if some are missing.
  Batch batch() const;

 private:
  std::int64_t rows_, context_;
  std::vector<std::int64_t> inputs_, targets_;
};

}  // namespace heed
