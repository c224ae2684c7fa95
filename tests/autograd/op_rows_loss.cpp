#include <heed/autograd/autograd.h>

#include <cmath>
#include <limits>

#include "op_table.h"

namespace heed::op_table {
namespace {

using reference::Index;

// ---- losses with classes

/// Targets below `classes`, among them an ignored one if there are enough.
Tokens targets_for(const Shape& shape, std::int64_t classes, std::int64_t ignored) {
  std::vector<std::int64_t> ids;
  for (std::int64_t i = 0; i < shape.numel(); ++i)
    ids.push_back(i % 4 == 2 ? ignored : (i * i + 1) % classes);
  return tokens(ids, shape);
}

/// The loss from log-probabilities, row by row.
Array class_loss(const Array& log_p, const Tokens& targets, const CrossEntropyOptions& options) {
  const auto classes = static_cast<std::size_t>(log_p.shape.back());
  const auto ids = targets.to_vector();
  Array rows{targets.shape(), {}};
  double total = 0, counted = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    double loss = 0;
    if (ids[i] != options.ignore_index) {
      for (std::size_t j = 0; j < classes; ++j) {
        const double target =
            (static_cast<std::int64_t>(j) == ids[i] ? 1. : 0.) * (1 - options.label_smoothing) +
            options.label_smoothing / static_cast<double>(classes);
        if (target != 0) loss -= target * log_p.values[i * classes + j];
      }
      ++counted;
    }
    rows.values.push_back(loss);
    total += loss;
  }
  if (options.reduction == Reduction::none) return rows;
  if (options.reduction == Reduction::sum || counted == 0) return {{}, {total}};
  return {{}, {total / counted}};
}

using ClassLoss = Tensor (*)(const Tensor&, const Tokens&, CrossEntropyOptions);

std::vector<Refusal> refuses_targets(const std::string& name, ClassLoss loss) {
  std::vector<Refusal> result;
  for (const std::int64_t id :
       {std::int64_t{-1}, std::int64_t{3}, std::int64_t{999999999},
        std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()})
    result.push_back(
        refuses<IndexError>(text("target ", id), {name, text(id), "position 1", "0 to 2"}, [=] {
          loss(zeros({2, 3}), tokens({0, id}, {2}), {});
        }));
  result.push_back(refuses<ShapeError>("target shape", {name, "(2, 3)", "(3)"}, [loss] {
    loss(zeros({2, 3}), tokens({0, 0, 0}, {3}), {});
  }));
  result.push_back(refuses<ValueError>("label_smoothing", {name, "label_smoothing", "1.5"}, [loss] {
    loss(zeros({2, 3}), tokens({0, 0}, {2}), {.label_smoothing = 1.5});
  }));
  return result;
}

Row class_row(const std::string& name, int saved, ClassLoss loss, bool logits) {
  std::vector<Variant> variants;
  const auto add = [&](const Shape& rows, std::int64_t classes, CrossEntropyOptions options) {
    const Tokens targets = targets_for(rows, classes, options.ignore_index);
    Shape shape = rows;
    shape.push_back(classes);
    variants.push_back(
        {text(shape, " smoothing ", options.label_smoothing, " reduction ",
              static_cast<int>(options.reduction), " ignored ", options.ignore_index),
         {{.shape = shape, .low = -3, .high = 0}},
         [=](const List& x) { return loss(x[0], targets, options); },
         [=](const Arrays& x) {
           if (!logits) return class_loss(x[0], targets, options);
           return class_loss(reference::along(x[0], x[0].shape.size() - 1, reference::log_softmax),
                             targets, options);
         }});
  };
  for (const Reduction reduction : {Reduction::mean, Reduction::sum, Reduction::none})
    for (const double smoothing : {0., 0.1, 1.}) {
      const CrossEntropyOptions options = {.label_smoothing = smoothing, .reduction = reduction};
      add({5}, 3, options);
      add({2, 3}, 19, options);
      add({}, 4, options);
      add({0}, 3, options);
    }
  add({1}, 1, {});
  add({6}, 3, {.ignore_index = 1});  // an id of the vocabulary, as padding often is
  return {.declaration = name + "(Tensor, Tokens, CrossEntropyOptions)",
          .name = name,
          .saved = saved,
          .variants = std::move(variants),
          .refusals = refuses_targets(name, loss)};
}

// ---- losses of two tensors of one shape

using PairLoss = std::function<Tensor(const Tensor&, const Tensor&)>;

/// Mean of `f` over the elements.
Row pair_row(std::string declaration, const std::string& name, int saved, const PairLoss& loss,
             std::function<double(double, double)> f, In x, In target, bool apart = false) {
  std::vector<Variant> variants;
  for (const Shape& shape : {Shape{3, 7}, Shape{2, 3, 2}, Shape{1}, Shape{}}) {
    x.shape = target.shape = shape;
    variants.push_back({text(shape),
                        {x, target},
                        [loss](const List& in) { return loss(in[0], in[1]); },
                        [f](const Arrays& in) {
                          const Array losses = reference::each(in[0], in[1], f);
                          return Array{{}, {reference::mean(losses.values)}};
                        },
                        apart});
  }
  return {.declaration = std::move(declaration),
          .name = name,
          .saved = saved,
          .variants = std::move(variants),
          .refusals = {refuses_shapes(name, {2, 3}, {3}, loss),
                       refuses_shapes(name, {2, 3}, {3, 2}, loss),
                       refuses<ShapeError>("of nothing", {"(2, 0)"}, [loss] {
                         loss(zeros({2, 0}), zeros({2, 0}));
                       })}};
}

double huber(double x, double t) {
  const double d = std::fabs(x - t);
  return d < 0.75 ? 0.5 * d * d : 0.75 * (d - 0.375);
}

}  // namespace

std::vector<Row> loss_rows() {
  const In any = {}, probability = {.low = 0.05, .high = 0.95}, wide = {.low = -6, .high = 6};
  std::vector<Row> rows = {
      class_row("cross_entropy", 1, cross_entropy, true),
      class_row("nll_loss", 0, nll_loss, false),
      pair_row(
          "mse_loss(Tensor, Tensor)", "mse_loss", 1, mse_loss,
          [](double x, double t) { return (x - t) * (x - t); }, any, any),
      pair_row(
          "l1_loss(Tensor, Tensor)", "l1_loss", 1, l1_loss,
          [](double x, double t) { return std::fabs(x - t); }, any, any, true),
      pair_row(
          "huber_loss(Tensor, Tensor, double)", "huber_loss", 3,
          [](const Tensor& x, const Tensor& t) { return huber_loss(x, t, 0.75); }, huber, any, any,
          true),
      pair_row(
          "binary_cross_entropy_with_logits(Tensor, Tensor)", "binary_cross_entropy_with_logits", 6,
          binary_cross_entropy_with_logits,
          [](double x, double t) {
            return t * std::log1p(std::exp(-x)) + (1 - t) * std::log1p(std::exp(x));
          },
          wide, probability),
      pair_row(
          "kl_div(Tensor, Tensor)", "kl_div", 3, kl_div,
          [](double log_p, double t) { return t * (std::log(t) - log_p); },
          {.low = -4, .high = -0.1}, probability),
  };
  for (Row& row : rows)
    if (row.name == "huber_loss")
      row.refusals.push_back(refuses<ValueError>("delta", {"huber_loss", "delta", "0"},
                                                 [] { huber_loss(zeros({1}), zeros({1}), 0); }));
  return rows;
}

}  // namespace heed::op_table
