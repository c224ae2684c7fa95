#include <heed/autograd/error.h>
#include <heed/autograd/grad_mode.h>
#include <heed/autograd/ops/loss.h>
#include <heed/autograd/ops/reduce.h>
#include <heed/train/evaluate.h>

#include <algorithm>
#include <limits>

namespace heed {
namespace {

constexpr std::int64_t kRowsAtOnce = 64;

double share(std::int64_t part, std::int64_t whole) {
  return whole ? static_cast<double>(part) / static_cast<double>(whole)
               : std::numeric_limits<double>::quiet_NaN();
}

/// How much of `whole` the first i of n even parts have.
std::int64_t first_parts(std::int64_t whole, std::int64_t i, std::int64_t n) {
  return whole / n * i + std::min(i, whole % n);
}

/// Figures of one more batch.
void add_up(std::vector<Figure>& all, std::vector<Figure> more) {
  if (all.empty()) return all.swap(more);
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].sum += more.at(i).sum;
    all[i].count += more[i].count;
  }
}

}  // namespace

void Tally::add(const Tensor& logits, const Tokens& batch_targets) {
  const Tokens predicted = argmax(logits);  // (B, T)
  const auto length = static_cast<std::size_t>(batch_targets.dim(1));
  for (std::int64_t b = 0; b < batch_targets.dim(0); ++b) {
    const std::size_t first = static_cast<std::size_t>(b) * length;
    const auto wanted = batch_targets.data().subspan(first, length);
    const auto found = predicted.data().subspan(first, length);
    std::int64_t counted = 0, hits = 0;
    for (std::size_t t = 0; t < length; ++t) {
      counted += wanted[t] != kIgnore;
      hits += wanted[t] == found[t];
    }
    targets += counted;
    right += hits;
    rows += counted > 0;
    exact += counted > 0 && hits == counted;
  }
}

double Tally::accuracy() const { return share(right, targets); }
double Tally::exact_match() const { return share(exact, rows); }

Evaluation evaluate(const Trainable& model, const Task& task, std::int64_t rows) {
  if (rows < 1) throw ValueError(text("evaluate: rows = ", rows, " must be at least 1"));
  const NoGrad quiet;
  const std::int64_t all = task.held_out_rows();
  rows = std::min(rows, all);
  const std::int64_t batches = 1 + (rows - 1) / kRowsAtOnce;
  Evaluation found{.alignment = std::numeric_limits<double>::quiet_NaN(), .rows = 0};
  Tally tally;
  double loss = 0;
  for (std::int64_t i = 0; i < batches; ++i) {
    const std::int64_t taken = first_parts(rows, i, batches);
    const std::int64_t first = taken + first_parts(all - rows, i, batches);
    const std::int64_t share_of_rows = first_parts(rows, i + 1, batches) - taken;
    const Batch batch = task.held_out(first, share_of_rows);
    const bool looked = i == 0 && model.look;
    const Answers answers = looked ? model.look(batch) : Answers{.logits = model.logits(batch)};
    loss += cross_entropy(answers.logits, batch.targets, {.reduction = Reduction::sum}).item();
    tally.add(answers.logits, batch.targets);
    add_up(found.figures, task.figures(batch, answers));
    found.rows += share_of_rows;
    if (looked)
      found.alignment =
          best_alignment(heads_of(answers.weights, batch, alignment_cells(task, batch)));
  }
  found.loss = tally.targets ? loss / static_cast<double>(tally.targets) : 0;
  found.accuracy = tally.accuracy();
  found.exact_match = tally.exact_match();
  return found;
}

}  // namespace heed
