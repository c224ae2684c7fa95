#pragma once

#include <heed/autograd/named_tensor.h>
#include <heed/autograd/rng.h>
#include <heed/data/batch.h>
#include <heed/data/text/tokenizer.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// A cell of an attention map: the query at one position, the key at another. The key stands in the
/// memory if the batch has one.
struct Cell {
  std::int64_t query, key;
  friend bool operator==(const Cell&, const Cell&) = default;
};

/// What is reached by a simpler way to predict, or at best; in nats a target.
struct Baseline {
  std::string name;
  double loss;
};

/// What a model makes of a batch.
struct Answers {
  Tensor logits = {};  ///< (B, T, V)
  /// Of each layer with heads, the first one first, (B, H, T, T or S); none where nobody looked.
  std::vector<NamedTensor> weights = {};
};

/// A number that a task measures: a mean, by what it is of and over how many.
struct Figure {
  std::string name;  ///< of a JSON field: legal_mass
  double sum = 0, count = 0;

  /// NaN if there was nothing to measure.
  double value() const;
};

/// Something to learn: where batches come from, and how they are read. Implement the pure
/// functions, and register_task() makes the task known by its name.
class Task {
 public:
  virtual ~Task() = default;

  /// T: positions of a row's inputs; rows to train on may be shorter than those held out.
  virtual std::int64_t context() const = 0;
  virtual const Tokenizer& tokenizer() const = 0;

  /// Rows to train on, drawn from `rng` alone; fewer if there are no more. Throws ValueError if
  /// rows < 1.
  virtual Batch sample(std::int64_t rows, Rng& rng) const = 0;

  /// How many rows are held out, at least 1. They are the same at every call, and sample() never
  /// draws one.
  virtual std::int64_t held_out_rows() const = 0;
  /// Held-out rows `first` to `first + rows - 1`. Throws IndexError unless all of them exist.
  virtual Batch held_out(std::int64_t first, std::int64_t rows) const = 0;

  /// The cells that one head should find in this row of a batch; none where nobody knows.
  virtual std::vector<Cell> alignment(const Batch& batch, std::int64_t row) const;
  /// Losses to compare with: at first ln V, a guess among all ids.
  virtual std::vector<Baseline> baselines() const;
  /// What to measure besides loss and accuracy, always the same names in the same order: at first
  /// nothing. `batch` is of held-out rows.
  virtual std::vector<Figure> figures(const Batch& batch, const Answers& answers) const;

  /// V: how many ids there are.
  std::int64_t vocabulary() const { return tokenizer().size(); }
  /// Throws ValueError, naming the character and its position, if it is not in the vocabulary.
  std::vector<std::int64_t> encode(std::string_view text) const { return tokenizer().encode(text); }
  /// For people: an ignored target is shown as a middle dot. Throws IndexError on any other id
  /// outside [0, V).
  std::string decode(std::span<const std::int64_t> ids) const;

 protected:
  /// The guess among all ids, and further ones.
  std::vector<Baseline> uniform_and(std::vector<Baseline> more) const;
  /// Throws the IndexError of held_out().
  void require_held_out(std::int64_t first, std::int64_t rows) const;
};

}  // namespace heed
