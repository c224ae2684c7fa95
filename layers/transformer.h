#pragma once

#include <heed/layers/attention.h>
#include <heed/layers/cache.h>
#include <heed/layers/config.h>
#include <heed/layers/dropout.h>
#include <heed/layers/input_embedding.h>
#include <heed/layers/linear.h>
#include <heed/layers/mlp.h>
#include <heed/layers/norm.h>

#include <optional>
#include <vector>

namespace heed {

/// x + attention(norm1(x)), then x + mlp(norm2(x)): the norm stands before each part, so that the
/// sum runs through all blocks untouched, unless the config puts it elsewhere (see NormPlace).
struct TransformerBlock {
  NormPlace place;
  Norm norm1;
  MultiHeadAttention attention;
  std::optional<Norm> norm2;
  std::optional<Mlp> mlp;  ///< none, nor a norm of it, in a block of attention alone
  Dropout dropout;         ///< of what each part adds

  TransformerBlock(const TransformerConfig& config, Rng& rng);

  /// x and y (B, T, C); `hidden` as for MultiHeadAttention.
  Tensor operator()(const Tensor& x, const Mask& hidden = {}) const;
  Tensor operator()(const Tensor& x, KeysValues& past, const Mask& hidden = {}) const;
  /// The weights of those maps whose results are added to x.
  std::vector<Tensor> last_maps() const;
  void visit(Visitor& v);

 private:
  Tensor with_mlp(const Tensor& x) const;
};

/// A decoder-only transformer (GPT-2; Radford et al., "Language Models are Unsupervised Multitask
/// Learners", 2019): token plus position embedding, blocks, a final norm if those in the blocks
/// stand before their parts, and a linear head without bias. It starts as `start_as_gpt2` says.
struct Transformer : InputEmbedding {
  TransformerConfig config;
  std::vector<TransformerBlock> blocks;
  Norm final_norm;
  std::optional<Linear> head;  ///< (C, V); none if the token embedding is tied to it

  /// Throws ValueError as `validate(options)` does.
  Transformer(const TransformerConfig& options, Rng& rng);

  /// Logits (B, T, V) for tokens (B, T). `hidden` (B, T) marks padding, which no position sees.
  /// Throws IndexError past the end of learned positions and for ids outside [0, V), ShapeError for
  /// other shapes.
  Tensor operator()(const Tokens& tokens, const Mask& hidden = {}) const;
  /// The same for the tokens after those that are in the cache, and adds them to it. `hidden` is of
  /// the new ones; the cache remembers the rest. Throws also for a cache of another model or batch,
  /// and ValueError unless the model is causal. After an error the cache is as it was.
  Tensor operator()(const Tokens& tokens, KvCache& cache, const Mask& hidden = {}) const;
  void visit(Visitor& v);

 private:
  Tensor read(const Tokens& tokens, const Mask& hidden, KvCache* cache) const;
};

}  // namespace heed
