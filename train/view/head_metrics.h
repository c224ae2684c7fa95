#pragma once

#include <heed/autograd/tensor.h>
#include <heed/data/task.h>

#include <span>
#include <vector>

namespace heed {

/// What a head does, each a mean over the queries of a batch for which it is defined, NaN if there
/// are none. a[i][j] is the weight of the key at j for the query at i, x[i] the token there. The
/// first query, which a causal mask leaves no choice, counts only for entropy and task alignment.
///
/// The places of two sequences cannot be compared: of cross-attention, where j is a place in the
/// memory, only entropy, alignment and largest weight are defined, for all queries.
struct HeadMetrics {
  double entropy = 0;          ///< of a[i], in nats
  double previous_token = 0;   ///< a[i][i - 1]
  double first_token = 0;      ///< a[i][0]
  double diagonal = 0;         ///< a[i][i]
  double duplicate_token = 0;  ///< on the earlier j with x[j] = x[i], where there is one
  /// On the j <= i that follow an earlier x[i], where there is one: prefix matching (Olsson et al.,
  /// "In-context learning and induction heads", 2022).
  double induction = 0;
  double alignment = 0;       ///< the cells the task says are right
  double mean_distance = 0;   ///< sum over j of a[i][j] |i - j|
  double largest_weight = 0;  ///< max over j of a[i][j]
};

/// The metrics of each head: weights (B, H, T, T), inputs (B, T), and for each row of the batch the
/// cells that Task::alignment names, or none at all. Of cross-attention: weights (B, H, T, S) and
/// undefined inputs. Throws ShapeError if they do not fit, and IndexError for a cell outside.
std::vector<HeadMetrics> head_metrics(const Tensor& weights, const Tokens& inputs,
                                      std::span<const std::vector<Cell>> cells = {});

/// Task::alignment of every row of a batch.
std::vector<std::vector<Cell>> alignment_cells(const Task& task, const Batch& batch);

}  // namespace heed
