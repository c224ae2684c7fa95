#include <heed/autograd/ops/shape.h>
#include <heed/train/view/heads.h>
#include <spdlog/fmt/fmt.h>

#include <array>
#include <cmath>
#include <limits>

namespace heed {
namespace {

constexpr std::string_view kShown = ".weights", kCrossShown = ".cross.weights";

struct Column {
  std::string_view name;
  double HeadMetrics::*value;
};
// The most telling first: a narrow terminal loses the last ones.
constexpr std::array<Column, 9> kColumns{{{"aligned", &HeadMetrics::alignment},
                                          {"entropy", &HeadMetrics::entropy},
                                          {"previous", &HeadMetrics::previous_token},
                                          {"induction", &HeadMetrics::induction},
                                          {"duplicate", &HeadMetrics::duplicate_token},
                                          {"first", &HeadMetrics::first_token},
                                          {"self", &HeadMetrics::diagonal},
                                          {"largest", &HeadMetrics::largest_weight},
                                          {"distance", &HeadMetrics::mean_distance}}};

/// Number of the head's layer among all layers with heads, from 0.
std::vector<int> layer_numbers(std::span<const Head> heads) {
  std::vector<int> numbers;
  int number = -1;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    if (i == 0 || heads[i].layer != heads[i - 1].layer) ++number;
    numbers.push_back(number);
  }
  return numbers;
}

}  // namespace

std::vector<NamedTensor> recorded_weights(const Recorder& recorder, const Batch& batch) {
  const bool cross = batch.memory.defined();
  const std::int64_t queries = batch.inputs.dim(1);
  const std::int64_t keys = cross ? batch.memory.dim(1) : queries;
  std::vector<NamedTensor> found;
  for (const std::string& name : recorder.names()) {
    if (!name.ends_with(cross ? kCrossShown : kShown)) continue;
    const Tensor weights = recorder.at(name);
    if (weights.ndim() == 4 && weights.dim(2) == queries && weights.dim(3) == keys)
      found.push_back({name.substr(0, name.size() - kShown.size()), weights});
  }
  return found;
}

std::vector<Head> heads_of(std::span<const NamedTensor> weights, const Batch& batch,
                           std::span<const std::vector<Cell>> cells) {
  const Tokens compared = batch.memory.defined() ? Tokens() : batch.inputs;
  std::vector<Head> heads;
  for (const auto& [layer, maps] : weights) {
    const std::vector<HeadMetrics> metrics = head_metrics(maps, compared, cells);
    for (std::int64_t h = 0; h < maps.dim(1); ++h) {
      const Tensor map = slice(slice(maps, 0, 0, 1), 1, h, h + 1);  // (1, 1, T, T or S)
      heads.push_back({.layer = layer,
                       .head = h,
                       .weights = reshape(map, {maps.dim(2), maps.dim(3)}),
                       .metrics = metrics[static_cast<std::size_t>(h)]});
    }
  }
  return heads;
}

double best_alignment(std::span<const Head> heads) {
  double best = std::numeric_limits<double>::quiet_NaN();
  for (const Head& head : heads) best = std::fmax(best, head.metrics.alignment);
  return best;
}

std::vector<HeadMap> maps_of(std::span<const Head> heads) {
  const std::vector<int> layers = layer_numbers(heads);
  std::vector<HeadMap> maps;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    std::string title = fmt::format("L{} H{}", layers[i], heads[i].head);
    const double alignment = heads[i].metrics.alignment;
    if (!std::isnan(alignment)) title += fmt::format(" {:.2f}", alignment);
    maps.push_back({std::move(title), heads[i].weights});
  }
  return maps;
}

Lines head_table(std::span<const Head> heads, int width) {
  const std::vector<int> layers = layer_numbers(heads);
  Lines lines{"layer head"};
  for (std::size_t i = 0; i < heads.size(); ++i)
    lines.push_back(fmt::format("{:5} {:4}", layers[i], heads[i].head));
  for (const Column& column : kColumns) {
    if (static_cast<int>(lines[0].size() + 2 + column.name.size()) > width) break;
    lines[0] += fmt::format("  {}", column.name);
    for (std::size_t i = 0; i < heads.size(); ++i) {
      const double value = heads[i].metrics.*column.value;
      const std::string shown = std::isnan(value) ? "-" : fmt::format("{:.2f}", value);
      lines[i + 1] += fmt::format("  {:>{}}", shown, column.name.size());
    }
  }
  for (std::string& line : lines)
    line.resize(std::min(line.size(), static_cast<std::size_t>(std::max(width, 0))));
  return lines;
}

}  // namespace heed
