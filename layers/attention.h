#pragma once

#include <heed/autograd/tokens_mask.h>
#include <heed/layers/cache.h>
#include <heed/layers/linear.h>
#include <heed/layers/positions.h>

#include <optional>

namespace heed {

struct AttentionConfig {
  bool causal = false;               ///< query i sees keys j <= i + Tk - Tq
  std::optional<double> scale = {};  ///< of the scores; 1/sqrt(D) unless given, 1.0 for none
  double dropout = 0;                ///< of the weights, within a Training scope
  std::int64_t kv_heads = 0;         ///< of keys and values, shared by neighbours; as many if 0
  /// `rotary` and `alibi` act here, with query i at the place of key i + Tk - Tq; for the others
  /// there is nothing to do.
  Positions positions = Positions::none;
};

/// Throws ValueError, naming the field, its value and what it may be, if these do not go together.
void validate(const AttentionConfig& config, std::int64_t d_model, std::int64_t heads);

/// Multi-head attention (Vaswani et al., arXiv:1706.03762, section 3.2), of grouped queries if
/// there are fewer heads of keys and values (Ainslie et al., arXiv:2305.13245). B batch, Tq and Tk
/// query and key times, C = d_model, H heads, D = C / H, Hkv heads of keys and values.
///
/// w_k has no bias: it adds the same to all scores of a query, and softmax cannot see that.
/// Shows "weights" (B, H, Tq, Tk) to a Recorder, before dropout; who replaces them changes the
/// output.
struct MultiHeadAttention {
  std::int64_t heads;
  AttentionConfig config;
  Linear w_q, w_k, w_v, w_o;  ///< each (C, C), but w_k and w_v (C, Hkv D)

  /// Throws ValueError as `validate(options, d_model, head_count)` does.
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

  /// What cross-attention makes of a memory (B, Tk, C): it can be kept, and ...
  KeysValues keys_values(const Tensor& memory) const;
  /// ... looked at by queries from x (B, Tq, C) again and again; y (B, Tq, C).
  Tensor across(const Tensor& x, const KeysValues& memory, const Mask& hidden = {}) const;

  void visit(Visitor& v);

 private:
  std::int64_t kv_heads() const { return config.kv_heads ? config.kv_heads : heads; }
  /// x (B, T, h D), h heads side by side, turned by the positions before `end` if they are rotary.
  Tensor placed(const Tensor& x, std::int64_t count, std::int64_t end) const;
  /// q (B, Tq, C), k and v (B, Tk, Hkv D) to y (B, Tq, C).
  Tensor attend(const Tensor& q, const KeysValues& kv, const Mask& hidden) const;
};

/// Which keys of a batch are padding, (B, Tk), as a mask for attention, (B, 1, 1, Tk); none for
/// none. Throws ShapeError for another number of axes: a (B, Tk) mask itself would be taken as (Tq,
/// Tk).
Mask padding_mask(const Mask& hidden);

}  // namespace heed
