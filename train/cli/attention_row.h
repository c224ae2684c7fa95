#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heed::cli {

using Numbers = std::vector<double>;

/// What one query of one head makes of n keys. D channels.
struct AttentionRow {
  Numbers query;                        ///< (D)
  std::vector<Numbers> keys;            ///< (n, D)
  std::vector<Numbers> values;          ///< (n, D)
  std::vector<bool> hidden = {};        ///< (n): true = not seen
  double scale = 1;                     ///< of the scores
  std::vector<std::string> names = {};  ///< (n): what stands at each key's position
  std::int64_t position = 0;            ///< of the query among the keys
  double slope = 0;                     ///< of ALiBi: what each step between them costs
  /// (D/2), of rotary positions, with which query and keys are turned already: the radians by which
  /// channels i and D/2 + i turn from one position to the next. Empty for others.
  Numbers turns = {};
};

/// The pairs of x (D), i and D/2 + i, turned by `positions` times `turns` (D/2), as rope does.
Numbers turned(const Numbers& x, const Numbers& turns, double positions);

/// The row's steps, each from the one before. A key that is hidden has the weight 0.
struct AttentionSteps {
  Numbers scores = {};   ///< (n): q·k
  Numbers bias = {};     ///< (n): -slope times the distance of key and query
  Numbers scaled = {};   ///< (n): scores times scale, plus bias
  Numbers powers = {};   ///< (n): exp(scaled - the largest of those seen)
  double sum = 0;        ///< of the powers
  Numbers weights = {};  ///< (n): powers / sum
  Numbers output = {};   ///< (D): weights · values
};
AttentionSteps steps_of(const AttentionRow& row);

/// The arithmetic as a table that a reader can do again by hand, of the keys up to the last one
/// that is seen.
std::string describe(const AttentionRow& row);

}  // namespace heed::cli
