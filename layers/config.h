#pragma once

#include <heed/layers/attention.h>
#include <heed/layers/mlp.h>
#include <heed/layers/norm.h>
#include <heed/layers/positions.h>

#include <cstdint>
#include <optional>

namespace heed {

/// All there is to choose about a Transformer or an EncoderDecoder.
struct TransformerConfig {
  std::int64_t vocabulary = 256;  ///< V: number of ids in and out
  /// How many positions it is made for: those of learned positions, past which it cannot read, and
  /// how far `generate` looks back. With other positions the model itself reads any length.
  std::int64_t context = 64;
  std::int64_t layers = 2;
  std::int64_t heads = 2;
  /// Heads of keys and values, each for heads / kv_heads neighbours (Ainslie et al.,
  /// arXiv:2305.13245); as many as heads if 0.
  std::int64_t kv_heads = 0;
  std::int64_t d_model = 32;
  std::int64_t d_ff = 0;  ///< width inside the Mlp; 4 d_model if 0
  double dropout = 0;     ///< of the embeddings, the attention weights and what each part adds
  Positions positions = Positions::learned;
  NormPlace norm = NormPlace::pre;
  NormKind norm_kind = NormKind::layer;
  Activation activation = Activation::gelu;
  bool causal = true;                ///< a position sees only itself and those before it
  std::optional<double> scale = {};  ///< of the scores; 1/sqrt(D) unless given, 1.0 for none
  bool tied_embedding = false;       ///< the token embedding is also the head
  double eps = 1e-5;                 ///< of the norms
};

/// The config itself. Throws ValueError naming the field, its value and what it may be.
const TransformerConfig& validate(const TransformerConfig& config);

/// The settings of the config's self-attention.
AttentionConfig attention_config(const TransformerConfig& config);
/// Of its norms, those within blocks and the one at the end.
NormOptions norm_options(const TransformerConfig& config);
NormOptions final_norm_options(const TransformerConfig& config);
/// The width inside its Mlp.
std::int64_t mlp_width(const TransformerConfig& config);

}  // namespace heed
