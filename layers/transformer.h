#pragma once

#include <heed/layers/attention.h>
#include <heed/layers/cache.h>
#include <heed/layers/dropout.h>
#include <heed/layers/embedding.h>
#include <heed/layers/linear.h>
#include <heed/layers/mlp.h>
#include <heed/layers/norm.h>
#include <heed/layers/positions.h>

#include <optional>
#include <vector>

namespace heed {

/// All there is to choose about a Transformer.
struct TransformerConfig {
  std::int64_t vocabulary = 256;  ///< V: number of ids in and out
  std::int64_t context = 64;      ///< most positions the model can read
  std::int64_t layers = 2;
  std::int64_t heads = 2;
  std::int64_t d_model = 32;
  std::int64_t d_ff = 0;  ///< width inside the Mlp; 4 d_model if 0
  double dropout = 0;     ///< of the embeddings, the attention weights and what each part adds
  Activation activation = Activation::gelu;
  bool causal = true;                ///< a position sees only itself and those before it
  std::optional<double> scale = {};  ///< of the scores; 1/sqrt(D) unless given, 1.0 for none
  bool tied_embedding = false;       ///< the token embedding is also the head
  double eps = 1e-5;                 ///< of the norms
};

/// Throws ValueError naming the field, its value and what it may be.
void validate(const TransformerConfig& config);

/// x + attention(norm1(x)), then x + mlp(norm2(x)): the norm stands before each part, so that the
/// sum runs through all blocks untouched (Xiong et al., arXiv:2002.04745).
struct TransformerBlock {
  LayerNorm norm1;
  MultiHeadAttention attention;
  LayerNorm norm2;
  Mlp mlp;
  Dropout dropout;  ///< of what each part adds

  TransformerBlock(const TransformerConfig& config, Rng& rng);

  /// x and y (B, T, C); `hidden` as for MultiHeadAttention.
  Tensor operator()(const Tensor& x, const Mask& hidden = {}) const;
  Tensor operator()(const Tensor& x, KeysValues& past, const Mask& hidden = {}) const;
  void visit(Visitor& v);

 private:
  Tensor with_mlp(const Tensor& y) const;
};

/// A decoder-only transformer (GPT-2; Radford et al., "Language Models are Unsupervised Multitask
/// Learners", 2019): token plus learned position embedding, pre-norm blocks, a final norm and a
/// linear head without bias. Its start is that paper's: matrices from normal(0, 0.02), those that
/// add to the residual sum (w_o, mlp.down) divided by sqrt(2 layers), biases 0, norms the identity.
struct Transformer {
  TransformerConfig config;
  Embedding token_embedding;             ///< (V, C)
  PositionEmbedding position_embedding;  ///< (context, C)
  Dropout dropout;                       ///< of their sum
  std::vector<TransformerBlock> blocks;
  LayerNorm final_norm;
  std::optional<Linear> head;  ///< (C, V); none if the token embedding is tied to it

  /// Throws ValueError as `validate(options)` does.
  Transformer(const TransformerConfig& options, Rng& rng);

  /// Logits (B, T, V) for tokens (B, T), T <= context. `hidden` (B, T) marks padding, which no
  /// position sees. Throws IndexError past the context and for ids outside [0, V), ShapeError for
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
