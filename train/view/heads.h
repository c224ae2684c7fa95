#pragma once

#include <heed/autograd/grad_mode.h>
#include <heed/layers/recorder.h>
#include <heed/train/answer.h>
#include <heed/train/view/head_metrics.h>
#include <heed/train/view/heat_map.h>

#include <cstdint>
#include <string>
#include <vector>

namespace heed {

/// One head of a model on one batch.
struct Head {
  std::string layer;      ///< path of its layer: blocks.0.attention
  std::int64_t head = 0;  ///< its number there
  Tensor weights;         ///< (T, T) or (T, S), of the first row of the batch
  HeadMetrics metrics;    ///< over all rows
};

/// The weights that a recorder has seen on this batch of what the task's cells are about, layer by
/// layer, under the layer's path: what was shown as "weights". Without a memory that is
/// self-attention, of shape (B, H, T, T); with one it is cross-attention alone, of shape
/// (B, H, T, S), of layers whose name is "cross".
std::vector<NamedTensor> recorded_weights(const Recorder& recorder, const Batch& batch);

/// All heads of these layers, as `recorded_weights` gives them. `cells` as for head_metrics.
std::vector<Head> heads_of(std::span<const NamedTensor> weights, const Batch& batch,
                           std::span<const std::vector<Cell>> cells = {});

/// Runs the model on the batch in evaluation, and looks. Nothing of the model, its gradients or its
/// random numbers is changed.
template <class Model>
Answers look(const Model& model, const Batch& batch) {
  const NoGrad quiet;
  const Recorder recorder(model);
  const Tensor logits = answer(model, batch);
  return {.logits = logits, .weights = recorded_weights(recorder, batch)};
}

template <class Model>
std::vector<Head> look_at_heads(const Model& model, const Batch& batch,
                                std::span<const std::vector<Cell>> cells = {}) {
  return heads_of(look(model, batch).weights, batch, cells);
}

/// The largest alignment; NaN if no head has one.
double best_alignment(std::span<const Head> heads);

/// For heat_maps: the title names layer and head, and the alignment where there is one.
std::vector<HeadMap> maps_of(std::span<const Head> heads);

/// A line of column names and one of metrics for each head; only as many columns as fit the width.
Lines head_table(std::span<const Head> heads, int width);

}  // namespace heed
