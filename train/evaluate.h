#pragma once

#include <heed/data/task.h>
#include <heed/layers/visitor.h>
#include <heed/train/answer.h>
#include <heed/train/view/heads.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace heed {

/// What training and evaluation ask of a model.
struct Trainable {
  std::function<Tensor(const Batch&)> logits;  ///< (B, T, V)
  /// The same logits with the weights of all heads; not set for a model without any.
  std::function<Answers(const Batch&)> look = {};
  Parameters parameters;
};

/// A model that `answer` can call: a Transformer, an EncoderDecoder. It is not copied and must not
/// move.
template <class Model>
Trainable trainable(const Model& model) {
  return {.logits = [&model](const Batch& batch) { return answer(model, batch); },
          .look = [&model](const Batch& batch) { return look(model, batch); },
          .parameters = parameters(model)};
}

/// How many of the targets that count were the likeliest id.
struct Tally {
  std::int64_t targets = 0, right = 0;
  std::int64_t rows = 0, exact = 0;  ///< with a target; with all of them right

  /// logits (B, T, V), targets (B, T).
  void add(const Tensor& logits, const Tokens& batch_targets);
  double accuracy() const;     ///< NaN if nothing counts
  double exact_match() const;  ///< NaN if nothing counts
};

/// What a model makes of held-out rows.
struct Evaluation {
  double loss = 0;      ///< mean over all targets, in nats
  double accuracy = 0;  ///< share of targets that are the likeliest id
  /// Share of rows in which all targets are: for a causal model, what greedy decoding gets right.
  double exact_match = 0;
  /// Largest mean weight that a head has on the cells the task says are right; NaN if it names
  /// none.
  double alignment = 0;
  std::int64_t rows = 0;
  std::vector<Figure> figures = {};  ///< what the task measures besides
};

/// Evaluates on `rows` of the task's held-out rows, spread over all of them, or on all if there are
/// fewer; heads are looked at on at most 64 of them. Draws no random number and leaves no trace.
/// Throws ValueError unless rows > 0.
Evaluation evaluate(const Trainable& model, const Task& task, std::int64_t rows);

}  // namespace heed
