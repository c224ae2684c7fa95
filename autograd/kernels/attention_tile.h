#pragma once

#include <cstdint>

// Note [Attention in tiles]
// The scores of a head are never held but for a tile: some keys by some queries. A forward goes
// through the keys and keeps, for each query, the largest score so far, the sum of the weights
// relative to it, and the sum of the values; what was summed is made smaller when a larger score
// comes. A backward remakes a tile's weights from the largest score and the sum. (Dao,
// "FlashAttention-2", arXiv:2307.08691, algorithms 1 and 2.)
//
// A tile has a row for each key and a column for each query, so that a vector holds the same key of
// neighbouring queries: extremes and sums over keys then need no sums across lanes, and the
// products read k and v where they lie. Scores are scaled by log2(e), and weights are powers of 2.

namespace heed::kernels {

/// Queries and keys of a tile, at most.
inline constexpr std::int64_t kTileQueries = 64, kTileKeys = 64;

/// Element (i, j) is data[i * row + j].
template <class T>
struct Rows {
  T* data;
  std::int64_t row;
};

/// Up to kTileQueries queries of a head, and the keys that any of them sees.
template <class T>
struct AttentionTile {
  std::int64_t queries, keys, width, value_width;
  Rows<const T> q, k, v;
  T scale;                     ///< of the scores, as powers of 2
  std::int64_t ahead;          ///< query i sees keys j <= i + ahead
  T alibi;                     ///< off a score for each position that its query and key are apart
  std::int64_t place;          ///< of query 0 among the keys
  const std::uint8_t* hidden;  ///< 1 where query i does not see key j; or null
  std::int64_t hidden_query, hidden_key;
  /// Writes to[j * row + i] = what the weight of key `key` + j is multiplied by for query i; or
  /// null.
  void (*drop)(const void* context, std::int64_t key, std::int64_t keys, T* to, std::int64_t row);
  const void* context;
  /// Rows that the next tile reads first, of so many matrices: they are asked for during this
  /// one, since those of a head lie too far apart for the CPU to guess them.
  Rows<const T> next[5] = {};
  int next_count = 0;
  std::int64_t next_rows = 0;
  /// To work in: three tiles, and three rows of each width, in whole vectors, for every query.
  T* room;
};

/// The same with what its backward needs.
template <class T>
struct AttentionPull {
  AttentionTile<T> tile;
  Rows<const T> y, g;
  const T *most, *scale;  ///< the weights of query i are 2^(score - most[i]) · scale[i]
  T slope;                ///< of the scores, as they are
  Rows<T> dq;
  Rows<T> dk, dv;  ///< is added to, without `slope`; rows are of whole vectors
};

}  // namespace heed::kernels
