#include <heed/train/view/spark_line.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

namespace heed {
namespace {

constexpr std::array<std::string_view, 8> kBlocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<std::string_view, 8> kShades{"_", ".", ":", "-", "=", "+", "*", "#"};

/// Mean of the finite ones; NaN if there are none.
double mean(std::span<const double> values) {
  double sum = 0;
  int finite = 0;
  for (double value : values)
    if (std::isfinite(value)) {
      sum += value;
      ++finite;
    }
  return finite ? sum / finite : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

std::string spark_line(std::span<const double> values, int width, ColorDepth color) {
  const std::size_t columns = std::min(values.size(), static_cast<std::size_t>(std::max(width, 0)));
  std::vector<double> heights;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (std::size_t i = 0; i < columns; ++i) {
    const std::size_t begin = i * values.size() / columns;
    const std::size_t end = (i + 1) * values.size() / columns;
    heights.push_back(mean(values.subspan(begin, end - begin)));
    if (std::isnan(heights.back())) continue;
    low = std::min(low, heights.back());
    high = std::max(high, heights.back());
  }
  const auto& glyphs = color == ColorDepth::none ? kShades : kBlocks;
  std::string line;
  for (double height : heights) {
    const double part = high > low ? (height - low) / (high - low) : 0;
    line += std::isnan(height) ? " "
                               : glyphs[static_cast<std::size_t>(
                                     std::lround(part * static_cast<double>(glyphs.size() - 1)))];
  }
  return line;
}

}  // namespace heed
