#pragma once

#include <heed/layers/attention.h>
#include <heed/layers/cache.h>
#include <heed/layers/config.h>
#include <heed/layers/dropout.h>
#include <heed/layers/input_embedding.h>
#include <heed/layers/linear.h>
#include <heed/layers/mlp.h>
#include <heed/layers/norm.h>
#include <heed/layers/transformer.h>

#include <optional>
#include <vector>

// The transformer of Vaswani et al., arXiv:1706.03762, figure 1. B batch, S positions of the
// memory, T of what is written, C = d_model, V vocabulary.

namespace heed {

/// Reads a memory: every position sees all others, whatever `causal` of the config says.
struct Encoder : InputEmbedding {
  std::vector<TransformerBlock> blocks;
  Norm final_norm;

  /// Throws ValueError as `validate(config)` does.
  Encoder(const TransformerConfig& config, Rng& rng);

  /// Tokens (B, S) to (B, S, C). `hidden` (B, S) marks padding, which no position sees. Throws as
  /// Transformer does.
  Tensor operator()(const Tokens& memory, const Mask& hidden = {}) const;
  void visit(Visitor& v);
};

/// A TransformerBlock that, between its two parts, looks at a memory: x + cross(norm2(x), memory).
/// Rotary positions and ALiBi are within `attention` alone: the places of two sequences cannot be
/// compared.
struct DecoderBlock {
  NormPlace place;
  Norm norm1;
  MultiHeadAttention attention;
  Norm norm2;
  MultiHeadAttention cross;
  std::optional<Norm> norm3;
  std::optional<Mlp> mlp;  ///< none, nor a norm of it, in a block of attention alone
  Dropout dropout;         ///< of what each part adds

  DecoderBlock(const TransformerConfig& config, Rng& rng);

  /// x and y (B, T, C), memory (B, S, C); `hidden`, of the memory, broadcasts to (B, H, T, S).
  Tensor operator()(const Tensor& x, const Tensor& memory, const Mask& hidden = {}) const;
  /// The same for the positions after those in `past`, with what `cross` has made of the memory.
  Tensor operator()(const Tensor& x, KeysValues& past, const KeysValues& memory,
                    const Mask& hidden = {}) const;
  /// The weights of those maps whose results are added to x.
  std::vector<Tensor> last_maps() const;
  void visit(Visitor& v);
};

/// Writes, looking at a memory.
struct Decoder : InputEmbedding {
  std::vector<DecoderBlock> blocks;
  Norm final_norm;
  std::optional<Linear> head;  ///< (C, V); none if the token embedding is tied to it

  /// Throws ValueError as `validate(config)` does.
  Decoder(const TransformerConfig& config, Rng& rng);

  /// Logits (B, T, V) for tokens (B, T) and memory (B, S, C). `hidden` (B, S) marks padding of the
  /// memory. Throws as Transformer does, and ShapeError if the batches differ.
  Tensor operator()(const Tokens& tokens, const Tensor& memory, const Mask& hidden = {}) const;
  /// The same for the tokens after those that are in the cache, and adds them to it.
  Tensor operator()(const Tokens& tokens, DecoderCache& cache) const;
  /// The cache from which writing starts: the memory as each block sees it.
  DecoderCache look_at(const Tensor& memory, const Mask& hidden = {}) const;
  void visit(Visitor& v);
};

/// An encoder that reads a memory, and a decoder that looks at it:
///
///     model(batch.memory, batch.inputs, batch.hidden);  // logits (B, T, V)
///
/// or with the memory read once, and each token at the cost of that one:
///
///     DecoderCache cache = model.read(memory);
///     model.decoder(next, cache);  // (B, 1, V)
///
/// A tied token embedding is that of encoder, decoder and head (section 3.4).
struct EncoderDecoder {
  TransformerConfig config;
  Encoder encoder;
  Decoder decoder;

  /// Throws ValueError as `validate(options)` does.
  EncoderDecoder(const TransformerConfig& options, Rng& rng);

  /// Logits (B, T, V) for memory (B, S) and tokens (B, T). `hidden` (B, S) marks padding of the
  /// memory, which nobody sees. Throws as encoder and decoder do.
  Tensor operator()(const Tokens& memory, const Tokens& tokens, const Mask& hidden = {}) const;
  /// What decoding starts from.
  DecoderCache read(const Tokens& memory, const Mask& hidden = {}) const;
  void visit(Visitor& v);
};

}  // namespace heed
