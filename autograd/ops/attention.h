#pragma once

#include <heed/autograd/tensor.h>
#include <heed/autograd/tokens_mask.h>

#include <optional>

/// Scaled dot-product attention, softmax(q kᵀ · scale) v (Vaswani et al., arXiv:1706.03762, eq. 1).
/// B batch, H heads, Tq and Tk query and key times, D = C / H. A query that may see no key gives
/// zeros, with zero gradient.
namespace heed {

struct AttentionOptions {
  Mask hidden = {};                  ///< true = not seen; broadcasts to (B, H, Tq, Tk)
  bool causal = false;               ///< query i sees keys j <= i + Tk - Tq, the last one all
  std::optional<double> scale = {};  ///< of the scores; 1/sqrt(D) unless given
  double dropout = 0;                ///< of the weights, within a Training scope
  bool alibi = false;                ///< alibi_bias is added to the scores
};

/// q (B, H, Tq, D), k and v (B, Hkv, Tk, D), where Hkv divides H (grouped queries); y (B, H, Tq,
/// D).
Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    AttentionOptions options = {});
/// The weights (B, H, Tq, Tk) of the above, for those who look; without dropout.
Tensor attention_weights(const Tensor& q, const Tensor& k, AttentionOptions options = {});

struct MultiHeadOptions {
  std::int64_t heads = 1;
  std::int64_t kv_heads = 0;  ///< heads of k and v; as many as q's unless given
  Mask hidden = {};           ///< true = not seen; broadcasts to (B, H, Tq, Tk)
  bool causal = false;
  std::optional<double> scale = {};
  double dropout = 0;
  bool alibi = false;
};

/// The same with the heads side by side: q (B, Tq, C), k and v (B, Tk, Hkv D); y (B, Tq, C).
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, MultiHeadOptions options);

/// What ALiBi adds to the scores of H heads, (H, Tq, Tk) (Press et al., arXiv:2108.12409):
///
///     -slope |i + Tk - Tq - j|,
///
/// the distance of query i and key j. The slopes of H = 2^n heads are 2^(-8h/H), h = 1 to H; any
/// other number takes those of the power of two below it, and then every second one of the power
/// above (section 3, and the authors' code). Throws ValueError unless heads >= 1, ShapeError for a
/// negative time.
Tensor alibi_bias(std::int64_t heads, std::int64_t queries, std::int64_t keys, DType dtype = f32);

/// Rotary positions (Su et al., arXiv:2104.09864): in each row of x (..., T, D) the pair (i, i +
/// D/2) is turned by position · base^(-2i/D). positions (T). Throws ShapeError for an odd D.
Tensor rope(const Tensor& x, const Tokens& positions, double base = 10000);
/// The same with the heads side by side, x (..., T, H D), at the positions from `start` on.
Tensor rope(const Tensor& x, std::int64_t start, std::int64_t heads, double base = 10000);

}  // namespace heed
