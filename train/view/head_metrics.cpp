#include <heed/autograd/error.h>
#include <heed/train/view/head_metrics.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace heed {
namespace {

class Mean {
 public:
  void add(double value) {
    sum_ += value;
    ++count_;
  }
  double value() const {
    return count_ > 0 ? sum_ / count_ : std::numeric_limits<double>::quiet_NaN();
  }

 private:
  double sum_ = 0;
  double count_ = 0;
};

/// The same fields as HeadMetrics, before the division.
struct Means {
  Mean entropy, previous_token, first_token, diagonal, duplicate_token, induction, alignment,
      mean_distance, largest_weight;

  HeadMetrics values() const {
    return {entropy.value(),   previous_token.value(),  first_token.value(),
            diagonal.value(),  duplicate_token.value(), induction.value(),
            alignment.value(), mean_distance.value(),   largest_weight.value()};
  }
};

double entropy_of(std::span<const double> a) {
  double entropy = 0;
  for (const double weight : a)
    if (weight > 0) entropy -= weight * std::log(weight);
  return entropy;
}

/// One query of cross-attention: its weights `a`.
void add_cross_query(Means& means, std::span<const double> a) {
  means.entropy.add(entropy_of(a));
  means.largest_weight.add(std::ranges::max(a));
}

/// One query at `i`: its weights `a`, and the tokens `x` of its row.
void add_query(Means& means, std::span<const double> a, std::span<const std::int64_t> x,
               std::size_t i) {
  double distance = 0, duplicates = 0, induced = 0;
  bool seen_before = false;
  for (std::size_t j = 0; j < a.size(); ++j) {
    distance += a[j] * std::abs(static_cast<double>(i) - static_cast<double>(j));
    if (j >= i || x[j] != x[i]) continue;
    seen_before = true;
    duplicates += a[j];
    induced += a[j + 1];
  }
  means.entropy.add(entropy_of(a));
  if (i == 0) return;
  means.previous_token.add(a[i - 1]);
  means.first_token.add(a[0]);
  means.diagonal.add(a[i]);
  means.mean_distance.add(distance);
  means.largest_weight.add(std::ranges::max(a));
  if (!seen_before) return;
  means.duplicate_token.add(duplicates);
  means.induction.add(induced);
}

void require_fit(const Tensor& weights, const Tokens& inputs,
                 std::span<const std::vector<Cell>> cells) {
  if (!inputs.defined() && weights.ndim() != 4)
    throw ShapeError(text("head_metrics: weights ", weights.shape(),
                          " are not (B, H, T, S) of cross-attention"));
  const bool fits = !inputs.defined() ||
                    (weights.ndim() == 4 && inputs.ndim() == 2 && weights.dim(0) == inputs.dim(0) &&
                     weights.dim(2) == inputs.dim(1) && weights.dim(3) == inputs.dim(1));
  if (!fits)
    throw ShapeError(text("head_metrics: weights ", weights.shape(), " and inputs ", inputs.shape(),
                          " are not (B, H, T, T) and (B, T)"));
  if (!cells.empty() && static_cast<std::int64_t>(cells.size()) != weights.dim(0))
    throw ShapeError(text("head_metrics: cells for ", cells.size(), " rows, but the batch has ",
                          weights.dim(0)));
  for (const std::vector<Cell>& row : cells)
    for (const Cell& cell : row)
      if (cell.query < 0 || cell.query >= weights.dim(2) || cell.key < 0 ||
          cell.key >= weights.dim(3))
        throw IndexError(text("head_metrics: cell (", cell.query, ", ", cell.key,
                              ") is outside the map (", weights.dim(2), ", ", weights.dim(3), ")"));
}

}  // namespace

std::vector<HeadMetrics> head_metrics(const Tensor& weights, const Tokens& inputs,
                                      std::span<const std::vector<Cell>> cells) {
  require_fit(weights, inputs, cells);
  const auto rows = static_cast<std::size_t>(weights.dim(0));
  const auto heads = static_cast<std::size_t>(weights.dim(1));
  const auto queries = static_cast<std::size_t>(weights.dim(2));
  const auto keys = static_cast<std::size_t>(weights.dim(3));
  const std::vector<double> values = weights.to_vector();

  std::vector<Means> means(heads);
  for (std::size_t b = 0; b < rows; ++b) {
    for (std::size_t h = 0; h < heads; ++h) {
      const auto map = std::span(values).subspan((b * heads + h) * queries * keys, queries * keys);
      for (std::size_t i = 0; i < queries; ++i) {
        const auto a = map.subspan(i * keys, keys);
        if (inputs.defined())
          add_query(means[h], a, inputs.data().subspan(b * keys, keys), i);
        else
          add_cross_query(means[h], a);
      }
      if (cells.empty()) continue;
      for (const Cell& cell : cells[b])
        means[h].alignment.add(
            map[static_cast<std::size_t>(cell.query) * keys + static_cast<std::size_t>(cell.key)]);
    }
  }
  std::vector<HeadMetrics> metrics;
  for (const Means& head : means) metrics.push_back(head.values());
  return metrics;
}

std::vector<std::vector<Cell>> alignment_cells(const Task& task, const Batch& batch) {
  std::vector<std::vector<Cell>> cells;
  for (std::int64_t row = 0; row < batch.inputs.dim(0); ++row)
    cells.push_back(task.alignment(batch, row));
  return cells;
}

}  // namespace heed
