#include <heed/autograd/error.h>
#include <heed/autograd/graph_view.h>
#include <heed/autograd/node.h>
#include <heed/autograd/ops/attention.h>
#include <heed/autograd/ops/loss.h>
#include <heed/data/text/utf8.h>
#include <heed/layers/recorder.h>
#include <heed/layers/transformer.h>
#include <heed/train/cli/attention_row.h>
#include <heed/train/cli/explain.h>
#include <heed/train/cli/output.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace heed::cli {
namespace {

constexpr std::int64_t kMostKeys = 32;  // that a query in the table may see

/// The lines of a graph that are ops: its first line counts nodes, and leaves are parameters.
std::string without_leaves(const std::string& graph) {
  std::istringstream lines(graph);
  std::string ops;
  for (std::string line; std::getline(lines, line);)
    if (line.find(" nodes, ") == std::string::npos && line.find(" = leaf ") == std::string::npos)
      ops += (ops.empty() ? "" : "\n") + line;
  return ops;
}

/// The first op of that name behind `y`: nodes are numbered in the order in which they were made.
const Node& first_op(const Tensor& y, std::string_view name) {
  std::set<const Node*> seen{y.node().get()};
  std::vector<const Node*> waiting{y.node().get()};
  const Node* first = nullptr;
  while (!waiting.empty()) {
    const Node* node = waiting.back();
    waiting.pop_back();
    if (node->name() == name && (!first || node->number() < first->number())) first = node;
    for (const Saved& input : node->inputs())
      if (input.node() && seen.insert(input.node().get()).second)
        waiting.push_back(input.node().get());
  }
  if (!first) throw GraphError(text("explain: the model has no op \"", name, "\""));
  return *first;
}

/// The channels of head 0 of every position of the batch's first row.
std::vector<Numbers> first_head(const Tensor& x, std::int64_t channels) {
  const std::vector<double> all = x.to_vector();
  std::vector<Numbers> rows;
  for (std::int64_t t = 0; t < x.dim(1); ++t) {
    const auto row = all.begin() + t * x.dim(2);
    rows.emplace_back(row, row + channels);
  }
  return rows;
}

/// The one that the task asks something of, if a table can hold it.
std::int64_t query_to_show(const Task& task, const Batch& batch) {
  for (const Cell& cell : task.alignment(batch, 0))
    if (cell.query < kMostKeys) return cell.query;
  return std::min<std::int64_t>(batch.inputs.dim(1), 8) - 1;
}

/// A token for people, on one line: what cannot be printed by its name, U+0009, and in quotes what
/// begins or ends with a space.
std::string shown(const Task& task, std::int64_t id) {
  std::string token;
  for (const char32_t c : to_code_points(task.decode(std::vector{id}))) {
    const std::string described = describe_character(c);
    token += c == '\n' ? "\\n" : described.starts_with('\'') ? to_utf8({&c, 1}) : described;
  }
  return token.starts_with(' ') || token.ends_with(' ') ? "'" + token + "'" : token;
}

/// By which angle rotary positions turn each pair of channels from one position to the next.
Numbers turns_of_a_step(std::int64_t channels) {
  const auto pairs = static_cast<std::size_t>(channels / 2);
  Numbers unturned(2 * pairs, 0.);  // every pair (1, 0); the halves are those of rope
  std::fill_n(unturned.begin(), pairs, 1.);
  const Numbers turned = rope(tensor(unturned, {1, channels}, f64), 1, 1).to_vector();
  Numbers turns;
  for (std::size_t i = 0; i < pairs; ++i) turns.push_back(std::atan2(turned[pairs + i], turned[i]));
  return turns;
}

/// Head 0 of block 0 at query `i` of row 0.
AttentionRow row_of(const Transformer& model, const Task& task, const Batch& batch,
                    const Context& attention, std::int64_t i) {
  const std::int64_t time = batch.inputs.dim(1);
  const std::int64_t channels = model.config.d_model / model.config.heads;
  AttentionRow row{
      .query = first_head(attention.input(0), channels)[static_cast<std::size_t>(i)],
      .keys = first_head(attention.input(1), channels),
      .values = first_head(attention.input(2), channels),
      .scale = model.config.scale.value_or(1 / std::sqrt(static_cast<double>(channels))),
      .position = i};
  if (model.config.positions == Positions::alibi)
    row.slope = -alibi_bias(model.config.heads, 1, 2).to_vector().front();  // one step from the key
  if (model.config.positions == Positions::rotary) row.turns = turns_of_a_step(channels);
  for (std::int64_t j = 0; j < time; ++j) {
    const bool padding = batch.hidden.defined() && batch.hidden.data()[static_cast<std::size_t>(j)];
    row.hidden.push_back(padding || (model.config.causal && j > i));
    row.names.push_back(shown(task, batch.inputs.data()[static_cast<std::size_t>(j)]));
  }
  return row;
}

/// How far the weights worked out here are from those of the layer.
double distance(const AttentionRow& row, const Tensor& recorded, std::int64_t i) {
  const std::vector<double> all = recorded.to_vector();  // (B, H, T, T): row 0, head 0
  const Numbers weights = steps_of(row).weights;
  double largest = 0;
  for (std::size_t j = 0; j < weights.size(); ++j)
    largest = std::max(
        largest, std::abs(weights[j] - all[static_cast<std::size_t>(i) * weights.size() + j]));
  return largest;
}

}  // namespace

void explain(const Settings& settings, const Task& task) {
  const Rng rng(static_cast<std::uint64_t>(settings.seed));
  Rng init = rng.stream("init"), data = rng.stream("data");
  const Transformer model(model_config(settings, task.vocabulary()), init);
  const Batch batch = task.sample(settings.batch, data);
  Recorder recorder(model);
  const Tensor logits = model(batch.inputs, batch.hidden);  // (B, T, V)
  const double loss = cross_entropy(logits, batch.targets).item();

  out.line("The parameters:\n");
  out.raw(summary(model));
  out.line(text("\nThe first forward of ", settings.task, ", without dropout: tokens ",
                batch.inputs.shape(), " become logits ", logits.shape(),
                ".\nEach op with what it is given, and the shape of what it makes:\n"));
  out.raw(without_leaves(to_text(logits, parameters(model))));
  out.line(fmt::format("\nloss {:.4f}; ln V = {:.4f}, a guess among all {} ids\n", loss,
                       std::log(static_cast<double>(task.vocabulary())), task.vocabulary()));

  const std::int64_t i = query_to_show(task, batch);
  const AttentionRow row = row_of(model, task, batch, Context(first_op(logits, "attention")), i);
  out.line(text("Block 0, head 0, row 0 of the batch: what the query at position ", i, ", token ",
                row.names[static_cast<std::size_t>(i)], ", makes of the keys.\n"));
  out.raw(describe(row));
  out.line(fmt::format("The layer's own weights differ from these by at most {:.0e}.",
                       distance(row, recorder.at("blocks.0.attention.weights"), i)));
}

}  // namespace heed::cli
