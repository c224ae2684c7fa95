#pragma once

#include <heed/autograd/tokens_mask.h>
#include <heed/layers/config.h>
#include <heed/layers/dropout.h>
#include <heed/layers/embedding.h>
#include <heed/layers/linear.h>
#include <heed/layers/positions.h>

#include <optional>

namespace heed {

/// Where a stack of blocks begins: token plus position embedding. Sinusoidal positions are made as
/// large as learned ones are at their start.
struct InputEmbedding {
  Embedding token_embedding;                            ///< (V, C)
  std::optional<PositionEmbedding> position_embedding;  ///< (context, C); of learned positions
  Dropout dropout;                                      ///< of their sum
  bool waves;                                           ///< of sinusoidal positions

  InputEmbedding(const TransformerConfig& config, Rng& rng);

  /// Tokens (B, T) at the positions from `start` on to (B, T, C). Throws ShapeError for other
  /// shapes, and IndexError past the end of learned positions and for ids outside [0, V).
  Tensor embed(const Tokens& tokens, std::int64_t start = 0) const;
  /// Logits (B, T, V) of x (B, T, C): by the head, or if there is none by the token embedding.
  Tensor logits(const Tensor& x, const std::optional<Linear>& head) const;
  void visit(Visitor& v);
};

/// Throws ShapeError unless the mask, if there is one, has the shape of the tokens.
void require_padding_of(const Tokens& tokens, const Mask& hidden);

}  // namespace heed
