#pragma once

#include <heed/autograd/tokens_mask.h>
#include <heed/layers/cache.h>
#include <heed/layers/linear.h>

#include <optional>

namespace heed {

struct AttentionConfig {
  bool causal = false;               ///< query i sees keys j <= i + Tk - Tq
  std::optional<double> scale = {};  ///< of the scores; 1/sqrt(D) unless given, 1.0 for none
  double dropout = 0;                ///< of the weights, within a Training scope
};

/// Multi-head attention (Vaswani et al., arXiv:1706.03762, section 3.2). B batch, Tq and Tk query
/// and key times, C = d_model, H heads, D = C / H.
///
/// w_k has no bias: it adds the same to all scores of a query, and softmax cannot see that.
/// Shows "weights" (B, H, Tq, Tk) to a Recorder, before dropout; who replaces them changes the
/// output.
struct MultiHeadAttention {
  std::int64_t heads;
  AttentionConfig config;
  Linear w_q, w_k, w_v, w_o;  ///< each (C, C)

  /// Throws ValueError unless the number of heads divides d_model.
  MultiHeadAttention(std::int64_t d_model, std::int64_t head_count, Rng& rng,
                     AttentionConfig options = {});

  /// Self-attention, x and y (B, T, C). `hidden` broadcasts to (B, H, T, T); true = not seen. For a
  /// batch with padding, `padding_mask(batch.hidden)`.
  Tensor operator()(const Tensor& x, const Mask& hidden = {}) const;
  /// Cross-attention: queries from x (B, Tq, C), keys and values from memory (B, Tk, C); y (B, Tq,
  /// C). `hidden` broadcasts to (B, H, Tq, Tk).
  Tensor operator()(const Tensor& x, const Tensor& memory, const Mask& hidden = {}) const;
  /// Self-attention of the next positions, x and y (B, t, C), which see those in `past` too and are
  /// added to it. `hidden` broadcasts to (B, H, t, T + t). Throws ValueError unless causal, and
  /// ShapeError as `past.then` does; `past` is then as it was.
  Tensor operator()(const Tensor& x, KeysValues& past, const Mask& hidden = {}) const;
  void visit(Visitor& v);

 private:
  /// q (B, Tq, C), k and v (B, Tk, C) to y (B, Tq, C).
  Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v, const Mask& hidden) const;
};

/// Which keys of a batch are padding, (B, Tk), as a mask for attention, (B, 1, 1, Tk); none for
/// none. Throws ShapeError for another number of axes: a (B, Tk) mask itself would be taken as (Tq,
/// Tk).
Mask padding_mask(const Mask& hidden);

/// Throws ValueError unless both are at least 1 and heads divides d_model.
void require_heads(std::int64_t heads, std::int64_t d_model);

}  // namespace heed
