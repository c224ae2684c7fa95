#include <heed/train/cli/attention_row.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace heed::cli {
namespace {

constexpr std::size_t kChannels = 4;  // of the values that are shown

double dot(const Numbers& a, const Numbers& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.);
}

std::string list(const Numbers& numbers) {
  return fmt::format("[{:.4f}]", fmt::join(numbers, ", "));
}

/// The first key that is seen; 0 if none is.
std::size_t first_seen(const AttentionRow& row) {
  const auto seen = std::ranges::find(row.hidden, false);
  return seen == row.hidden.end() ? 0 : static_cast<std::size_t>(seen - row.hidden.begin());
}

/// The number of keys up to the last one that is seen.
std::size_t end_of_seen(const AttentionRow& row) {
  const auto last = std::find(row.hidden.rbegin(), row.hidden.rend(), false);
  return static_cast<std::size_t>(row.hidden.rend() - last);
}

/// What rotary positions did to the query and the key j; nothing if there are none.
std::string turns_by_hand(const AttentionRow& row, std::size_t j) {
  if (row.turns.empty()) return "";
  const auto angles = [&](double positions) {
    Numbers all = row.turns;
    for (double& turn : all) turn *= positions;
    return list(all);
  };
  const auto before = [&](const Numbers& x, double position) {
    return list(turned(x, row.turns, -position));
  };
  const auto i = static_cast<double>(row.position), k = static_cast<double>(j);
  return fmt::format(
      "channels c and c + {} turn by position * {} radians\n"
      "query before = {}, turned by {}\n"
      "key of position {} before = {}, turned by {}\n",
      row.turns.size(), fmt::format("[{:.6g}]", fmt::join(row.turns, ", ")), before(row.query, i),
      angles(i), j, before(row.keys[j], k), angles(k));
}

std::string score_by_hand(const AttentionRow& row, double score) {
  const std::size_t j = first_seen(row);
  std::string products;
  for (std::size_t c = 0; c < row.query.size(); ++c)
    products += fmt::format("{}{:.4f}*{:.4f}", c ? " + " : "", row.query[c], row.keys[j][c]);
  return turns_by_hand(row, j) +
         fmt::format("query = {}\nkey of position {} = {}\ntheir score = {} = {:.4f}\n",
                     list(row.query), j, list(row.keys[j]), products, score);
}

std::string table_of_weights(const AttentionRow& row, const AttentionSteps& steps) {
  const auto bias = [&](const std::string& cell) {
    return row.slope == 0 ? "" : fmt::format("{:>9} ", cell);
  };
  std::string table = fmt::format("{:>8}  {:<6} {:>9} {}{:>9} {:>9} {:>9}\n", "position", "token",
                                  "score", bias("bias"), "scaled", "exp", "weight");
  for (std::size_t j = 0; j < end_of_seen(row); ++j) {
    table += fmt::format("{:>8}  {:<6} {:>9.4f} {}", j, row.names[j], steps.scores[j],
                         bias(fmt::format("{:.4f}", steps.bias[j])));
    table += row.hidden[j] ? fmt::format("{:>9} {:>9} {:>9}\n", "hidden", "0", "0")
                           : fmt::format("{:>9.4f} {:>9.4f} {:>9.4f}\n", steps.scaled[j],
                                         steps.powers[j], steps.weights[j]);
  }
  const double all = std::accumulate(steps.weights.begin(), steps.weights.end(), 0.);
  return table + fmt::format("{:>8}  {:<6} {:>9} {}{:>9} {:>9.4f} {:>9.4f}\n", "sum", "", "",
                             bias(""), "", steps.sum, all);
}

std::string table_of_values(const AttentionRow& row, const AttentionSteps& steps) {
  const std::size_t channels = std::min(kChannels, row.query.size());
  const auto line = [&](const std::string& start, const Numbers& numbers) {
    return fmt::format(
        "{}{:>9.4f}\n", start,
        fmt::join(numbers.begin(), numbers.begin() + static_cast<long>(channels), " "));
  };
  std::string table =
      fmt::format("{:>8}  {:>9}  values, channels 0 to {}\n", "position", "weight", channels - 1);
  for (std::size_t j = 0; j < row.keys.size(); ++j)
    if (!row.hidden[j])
      table += line(fmt::format("{:>8}  {:>9.4f} ", j, steps.weights[j]), row.values[j]);
  return table + line(fmt::format("{:>8}  {:>9} ", "output", ""), steps.output);
}

}  // namespace

Numbers turned(const Numbers& x, const Numbers& turns, double positions) {
  Numbers y = x;
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const double angle = positions * turns[i], first = x[i], second = x[turns.size() + i];
    y[i] = first * std::cos(angle) - second * std::sin(angle);
    y[turns.size() + i] = first * std::sin(angle) + second * std::cos(angle);
  }
  return y;
}

AttentionSteps steps_of(const AttentionRow& row) {
  const std::size_t n = row.keys.size();
  AttentionSteps steps{
      .powers = Numbers(n), .weights = Numbers(n), .output = Numbers(row.query.size())};
  double largest = -std::numeric_limits<double>::infinity();
  for (std::size_t j = 0; j < n; ++j) {
    steps.scores.push_back(dot(row.query, row.keys[j]));
    const auto distance = static_cast<double>(row.position) - static_cast<double>(j);
    steps.bias.push_back(0 - row.slope * std::abs(distance));  // and no -0
    steps.scaled.push_back(steps.scores[j] * row.scale + steps.bias[j]);
    if (!row.hidden[j]) largest = std::max(largest, steps.scaled[j]);
  }
  for (std::size_t j = 0; j < n; ++j)
    if (!row.hidden[j]) steps.sum += steps.powers[j] = std::exp(steps.scaled[j] - largest);
  for (std::size_t j = 0; j < n; ++j) {
    if (row.hidden[j]) continue;
    steps.weights[j] = steps.powers[j] / steps.sum;
    for (std::size_t c = 0; c < steps.output.size(); ++c)
      steps.output[c] += steps.weights[j] * row.values[j][c];
  }
  return steps;
}

std::string describe(const AttentionRow& row) {
  const AttentionSteps steps = steps_of(row);
  return fmt::format(
      "{}\n"
      "scaled = score * {:.6g}{}; exp = exp(scaled - the largest scaled); weight = exp / sum\n"
      "{}\n"
      "output = the sum of weight * value\n"
      "{}",
      score_by_hand(row, steps.scores[first_seen(row)]), row.scale,
      row.slope == 0 ? ""
                     : fmt::format(" + bias; bias = -{:.6g} * the distance from position {}",
                                   row.slope, row.position),
      table_of_weights(row, steps), table_of_values(row, steps));
}

}  // namespace heed::cli
