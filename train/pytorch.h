#pragma once

#include <heed/layers/visitor.h>

#include <string_view>

/// A Transformer's parameters under PyTorch's names, and back. A Linear's weight is (out, in)
/// there; the blocks are those of an nn.TransformerEncoder ("layers.0.linear1.weight"), whose
/// attention has queries, keys and values in one ("in_proj_weight"), with zeros where heed's keys
/// have no bias; what heed has besides (a gate, embeddings, a head) keeps its name.
namespace heed {

/// What `parameters(model)` is there.
Parameters to_pytorch(const Parameters& named);

/// Writes tensors of those names into `parameters(model)`. A bias of the keys is dropped: softmax
/// does not see it, if nothing comes between it and the scores; `keys_turn` says that something
/// does, as rotary positions. Throws FileError, before any parameter has changed, as
/// copy_parameters does, and if `keys_turn` for a bias of the keys that is not zero; `origin` is
/// what it calls the source.
void from_pytorch(const Parameters& tensors, const Parameters& named, bool keys_turn,
                  std::string_view origin);

}  // namespace heed
