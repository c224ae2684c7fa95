#pragma once

#include <heed/autograd/tensor.h>
#include <heed/autograd/tokens_mask.h>

#include <cstdint>
#include <vector>

namespace heed {

/// What one causal attention layer keeps of the T positions it has read: the later ones need no
/// more of them. Undefined before the first.
struct KeysValues {
  Tensor keys, values;  ///< (B, T, C), or (B, T, Hkv D) of fewer heads; keys turned if rotary

  /// T, how many positions were read.
  std::int64_t length() const { return keys.defined() ? keys.dim(1) : 0; }
  /// These with those of further positions behind them, both (B, t, C). Throws ShapeError if batch
  /// or channels differ.
  KeysValues then(const Tensor& more_keys, const Tensor& more_values) const;
};

/// What a causal Transformer keeps of the tokens it has read, so that going on costs the new ones
/// alone; the logits are those of the whole sequence:
///
///     KvCache cache;
///     model(prompt, cache);  // (B, T, V), positions 0 to T - 1
///     model(next, cache);    // (B, 1, V), position T
///
/// A copy goes on by itself: two ways to continue one prompt. `cache = {}` starts anew, as one must
/// at the end of the context, since every token then takes another position. It belongs to the
/// model that filled it, with the parameters it had. The gradient goes through it, and is that of
/// the whole sequence; who wants none works under NoGrad, or the cache keeps the graph of all it
/// read.
struct KvCache {
  std::vector<KeysValues> layers;  ///< one for each block, once there is something to keep
  Mask hidden;                     ///< (B, T), what of it was padding; undefined if nothing was

  /// T, how many positions were read.
  std::int64_t length() const;
  /// Remembers what is padding, `more` (B, t), of tokens (B, t) that are about to be read: none if
  /// undefined. Throws ShapeError if the cache holds another batch, or does not fit itself.
  void hide(const Mask& more, const Shape& tokens);
};

/// What a Decoder keeps: the memory as each of its blocks sees it, and what it has written. As a
/// KvCache it may be copied.
struct DecoderCache {
  KvCache written;
  std::vector<KeysValues> memory;  ///< one for each block
  Mask hidden;                     ///< of the memory's padding, (B, 1, 1, S); undefined for none
};

}  // namespace heed
