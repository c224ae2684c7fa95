#include <heed/train/cli/progress.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace heed::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kBetweenFrames = std::chrono::milliseconds(100);
constexpr auto kBetweenLines = std::chrono::seconds(10);  // off a terminal, without an evaluation

std::string fit(std::string line, int width) {
  line.resize(std::min(line.size(), static_cast<std::size_t>(width)));
  return line;
}

/// A share, which is NaN if there was nothing to share.
std::string percent(double share, int digits) {
  return std::isnan(share) ? "-" : fmt::format("{:.{}f} %", 100 * share, digits);
}

double seconds(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

std::string describe(const Evaluation& evaluation) {
  std::string text =
      fmt::format("loss {:.4f}, accuracy {}, exact {}", evaluation.loss,
                  percent(evaluation.accuracy, 2), percent(evaluation.exact_match, 2));
  if (!std::isnan(evaluation.alignment))
    text += fmt::format(", alignment {:.2f}", evaluation.alignment);
  for (const Figure& figure : evaluation.figures) {
    if (figure.count == 0) continue;
    std::string name = figure.name;
    std::ranges::replace(name, '_', ' ');
    text += fmt::format(", {} {:.4f}", name, figure.value());
  }
  return text;
}

void append(Fields& fields, const Evaluation& evaluation) {
  fields.insert(fields.end(), {{"rows", evaluation.rows},
                               {"loss", evaluation.loss},
                               {"accuracy", evaluation.accuracy},
                               {"exact_match", evaluation.exact_match},
                               {"alignment", evaluation.alignment}});
  for (const Figure& figure : evaluation.figures) fields.push_back({figure.name, figure.value()});
}

Progress::Progress(std::int64_t steps, bool watch, Look look, std::string rows)
    : steps_(steps),
      watch_(watch && err.terminal().interactive),
      look_(std::move(look)),
      rows_(std::move(rows)) {}

void Progress::step(const StepReport& report) {
  last_ = report;
  tokens_ += report.tokens;
  losses_.push_back(report.loss);
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  if (err.terminal().interactive) {
    draw();
    // Looking at the heads of a large model takes time: no more than a 25th of the whole.
    next_ = now + std::max<Clock::duration>(kBetweenFrames, 25 * (Clock::now() - now));
  } else {
    err.raw(status());
    next_ = now + kBetweenLines;
  }
}

void Progress::evaluated(const Evaluation& evaluation) {
  evaluation_ = rows_ + ": " + describe(evaluation);
  if (watch_) return;
  live_.erase();
  err.line(status() + "  " + evaluation_);
  if (!err.terminal().interactive) next_ = Clock::now() + kBetweenLines;
}

void Progress::finish() {
  if (watch_) draw();
  live_.keep();
}

std::string Progress::status() const {
  if (last_.step == 0) return fmt::format("step 0/{}", steps_);
  const double elapsed = seconds(Clock::now() - start_);
  const auto done = static_cast<double>(last_.step);
  const double left = elapsed / done * static_cast<double>(steps_ - last_.step);
  return fmt::format("step {}/{}  loss {:.4f}  accuracy {}  {:.0f} tokens/s  ETA {}", last_.step,
                     steps_, last_.loss, percent(last_.accuracy, 1),
                     static_cast<double>(tokens_) / elapsed, duration(left));
}

void Progress::draw() {
  const Room room = err.terminal().room();
  Lines lines{fit(status(), room.width)};
  if (watch_) {
    lines.push_back(spark_line(losses_, room.width, room.color));
    lines.push_back(fit(evaluation_, room.width));
    const int left = room.height - static_cast<int>(lines.size());
    if (left > 0) {
      const Lines maps = heat_maps(maps_of(look_()), {room.width, left, room.color});
      lines.insert(lines.end(), maps.begin(), maps.end());
    }
  }
  lines.resize(std::min(lines.size(), static_cast<std::size_t>(std::max(room.height, 1))));
  live_.draw(lines);
}

}  // namespace heed::cli
