#include <heed/autograd/error.h>
#include <heed/train/view/svg.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstdint>

namespace heed {
namespace {

constexpr std::int64_t kCell = 8, kTitle = 20, kGap = 16;  // in pixels

std::string escape(const std::string& title) {
  std::string escaped;
  for (char c : title) escaped += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
  return escaped;
}

std::string hex(Rgb color) {
  return fmt::format("#{:02x}{:02x}{:02x}", color.red, color.green, color.blue);
}

/// The map with its upper left corner at the origin: the darkest colour as ground, on it a path for
/// each run of cells of one colour in a row.
std::string draw(const Tensor& weights) {
  const std::int64_t queries = weights.dim(0), keys = weights.dim(1);
  const std::vector<double> values = weights.to_vector();
  const auto color = [&](std::int64_t i, std::int64_t j) {
    return viridis(brightness(values[static_cast<std::size_t>(i * keys + j)]));
  };
  const Rgb ground = viridis(0);
  std::string svg = fmt::format("<rect width=\"{}\" height=\"{}\" fill=\"{}\"/>\n", keys * kCell,
                                queries * kCell, hex(ground));
  for (std::int64_t i = 0; i < queries; ++i)
    for (std::int64_t j = 0, end = 0; j < keys; j = end) {
      while (end < keys && color(i, end) == color(i, j)) ++end;
      if (color(i, j) == ground) continue;
      svg += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>\n",
                         j * kCell, i * kCell, (end - j) * kCell, kCell, hex(color(i, j)));
    }
  return svg;
}

}  // namespace

std::string heat_maps_svg(std::span<const HeadMap> maps, int per_row) {
  if (per_row < 1) throw ValueError(text("heat_maps_svg: per_row = ", per_row, " is below 1"));
  std::int64_t width = 0, height = 0;
  for (const HeadMap& map : maps) {
    if (map.weights.ndim() != 2)
      throw ShapeError(
          text("heat_maps_svg: weights of shape ", map.weights.shape(), " are not (Tq, Tk)"));
    width = std::max(width, map.weights.dim(1) * kCell + kGap);
    height = std::max(height, map.weights.dim(0) * kCell + kTitle + kGap);
  }
  const auto n = static_cast<std::int64_t>(maps.size());
  const std::int64_t columns = std::min<std::int64_t>(n, per_row);
  const std::int64_t rows = n ? (n + per_row - 1) / per_row : 0;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" font-family=\"sans-serif\" font-size=\"13\" "
      "shape-rendering=\"crispEdges\">\n",
      columns * width, rows * height);
  for (std::int64_t k = 0; k < n; ++k) {
    const HeadMap& map = maps[static_cast<std::size_t>(k)];
    svg += fmt::format("<g transform=\"translate({} {})\">\n", k % per_row * width + kGap / 2,
                       k / per_row * height + kGap / 2 + kTitle);
    svg += fmt::format("<text y=\"-6\" fill=\"#808080\">{}</text>\n{}</g>\n", escape(map.title),
                       draw(map.weights));
  }
  return svg + "</svg>\n";
}

}  // namespace heed
