#pragma once

#include <heed/autograd/rng.h>

#include <array>
#include <cstdint>

namespace heed::kernels {

/// The rows of all heads: those of (B, H, T, D) or of (B, T, H D), by their strides.
template <class T>
struct HeadRows {
  T* data;
  std::int64_t batch, head, row;

  T* at(std::int64_t b, std::int64_t h) const { return data + b * batch + h * head; }
};

/// Sizes of attention and what a query does not see.
struct Attention {
  std::int64_t batch, heads, kv_heads, queries, keys, width, value_width;
  double scale;
  bool causal;                                ///< query i sees keys j <= i + keys - queries
  bool alibi = false;                         ///< scores less their slope times the distance
  const std::uint8_t* hidden = nullptr;       ///< 1 = not seen; none if null
  std::array<std::int64_t, 4> hidden_step{};  ///< from one batch, head, query, key to the next
  double drop = 0;                            ///< the chance of a weight to be dropped
  RngState draws = {};                        ///< one for each cell of (B, H, Tq, Tk), if drop > 0
};

/// What a head, counted from 0, takes off its scores for each position that query and key are
/// apart.
double alibi_slope(std::int64_t head, std::int64_t heads);

/// What a query's weights are remade from: 2^(score - most) · scale, scores being powers of 2. Both
/// are 0 for a query that sees nothing.
struct AttentionRow {
  double most, scale;
};

/// y = softmax(q kᵀ · scale) v, head by head; writes `rows` (B, H, Tq). See Note [Attention in
/// tiles].
template <class T>
void attention_forward(const Attention& a, HeadRows<const T> q, HeadRows<const T> k,
                       HeadRows<const T> v, HeadRows<T> y, AttentionRow* rows);

/// The gradients for that of y, g.
template <class T>
void attention_backward(const Attention& a, HeadRows<const T> q, HeadRows<const T> k,
                        HeadRows<const T> v, HeadRows<const T> y, HeadRows<const T> g,
                        const AttentionRow* rows, HeadRows<T> dq, HeadRows<T> dk, HeadRows<T> dv);

}  // namespace heed::kernels
