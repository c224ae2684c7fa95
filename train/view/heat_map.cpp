#include <heed/autograd/error.h>
#include <heed/train/view/heat_map.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>

namespace heed {
namespace {

constexpr int kColumnsBetween = 2;  // columns between two maps

int queries_per_line(ColorDepth color) { return color == ColorDepth::none ? 1 : 2; }

/// A matrix made smaller: each cell is the largest of those it stands for.
class Cells {
 public:
  Cells(const Tensor& weights, int rows, int columns) : rows_(rows), columns_(columns) {
    const std::vector<double> values = weights.to_vector();
    const std::int64_t from_rows = weights.dim(0), from_columns = weights.dim(1);
    largest_.assign(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns), 0);
    for (std::int64_t i = 0; i < from_rows; ++i)
      for (std::int64_t j = 0; j < from_columns; ++j) {
        double& cell = at(static_cast<int>(i * rows / from_rows),
                          static_cast<int>(j * columns / from_columns));
        cell = std::max(cell, values[static_cast<std::size_t>(i * from_columns + j)]);
      }
  }

  int rows() const { return rows_; }
  int columns() const { return columns_; }
  double& at(int row, int column) {
    return largest_[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_) +
                    static_cast<std::size_t>(column)];
  }

 private:
  int rows_, columns_;
  std::vector<double> largest_;
};

Lines shades(Cells cells) {
  constexpr std::string_view kShades = " .:-=+*#%@";
  Lines lines;
  for (int i = 0; i < cells.rows(); ++i) {
    std::string line;
    for (int j = 0; j < cells.columns(); ++j)
      line += kShades[static_cast<std::size_t>(
          std::lround(brightness(cells.at(i, j)) * (kShades.size() - 1)))];
    lines.push_back(std::move(line));
  }
  return lines;
}

Lines half_blocks(Cells cells, ColorDepth depth) {
  Lines lines;
  for (int i = 0; i < cells.rows(); i += 2) {
    std::string line, before;
    for (int j = 0; j < cells.columns(); ++j) {
      std::string colors = foreground(viridis(brightness(cells.at(i, j))), depth);
      if (i + 1 < cells.rows())
        colors += background(viridis(brightness(cells.at(i + 1, j))), depth);
      if (colors != before) line += colors;
      line += "▀";
      before = std::move(colors);
    }
    lines.push_back(line + "\x1b[0m");
  }
  return lines;
}

struct Size {
  int rows = 0;
  int columns = 0;
};

/// The largest size in cells that has the matrix's proportions and fits; nothing if there is none.
Size fit(const Tensor& weights, const Room& room) {
  if (weights.ndim() != 2)
    throw ShapeError(text("heat_map: weights of shape ", weights.shape(), " are not (Tq, Tk)"));
  const std::int64_t queries = weights.dim(0), keys = weights.dim(1);
  if (queries == 0 || keys == 0 || room.width <= 0) return {};
  const std::int64_t high =
      room.height > 0 ? std::min<std::int64_t>(room.height * queries_per_line(room.color), queries)
                      : queries;
  const std::int64_t columns =
      std::clamp<std::int64_t>(keys * high / queries, 1, std::min<std::int64_t>(keys, room.width));
  const std::int64_t rows = std::clamp<std::int64_t>(queries * columns / keys, 1, high);
  return {static_cast<int>(rows), static_cast<int>(columns)};
}

Lines draw(const Tensor& weights, Size size, ColorDepth color) {
  if (size.columns == 0) return {};
  Cells cells(weights, size.rows, size.columns);
  return color == ColorDepth::none ? shades(std::move(cells))
                                   : half_blocks(std::move(cells), color);
}

/// How maps share a room: so many side by side, each in a room of its own.
struct Layout {
  int per_row = 0;
  Room each;
};

/// The one in which most columns are seen, of those that show the same the one with fewest rows.
Layout arrange(std::span<const HeadMap> maps, const Room& room) {
  const auto n = static_cast<int>(maps.size());
  Layout best;
  int most = 0;
  for (int per_row = 1; per_row <= n; ++per_row) {
    Room each{(room.width - kColumnsBetween * (per_row - 1)) / per_row, 0, room.color};
    if (each.width < 1) break;
    if (room.height > 0) {
      each.height = room.height / ((n + per_row - 1) / per_row) - 1;  // 1 for the title
      if (each.height < 1) continue;
    }
    int seen = 0;
    for (const HeadMap& map : maps) seen += fit(map.weights, each).columns;
    if (seen >= most) {
      most = seen;
      best = {per_row, each};
    }
  }
  return best;
}

/// A row of maps below their titles, without the spaces at the end of a line.
void append_row(Lines& lines, std::span<const HeadMap> maps, const Room& each) {
  const std::size_t first = lines.size();
  for (const HeadMap& map : maps) {
    const Size size = fit(map.weights, each);
    const std::string title = map.title.substr(0, static_cast<std::size_t>(each.width));
    const int title_width = static_cast<int>(title.size());
    Lines panel{title};
    std::ranges::move(draw(map.weights, size, each.color), std::back_inserter(panel));
    if (lines.size() < first + panel.size()) lines.resize(first + panel.size());
    for (std::size_t i = 0; first + i < lines.size(); ++i) {
      const int visible = i == 0 ? title_width : i < panel.size() ? size.columns : 0;
      const int padding = std::max(size.columns, title_width) - visible + kColumnsBetween;
      if (i < panel.size()) lines[first + i] += panel[i];
      lines[first + i].append(static_cast<std::size_t>(padding), ' ');
    }
  }
  for (std::size_t i = first; i < lines.size(); ++i)
    lines[i].erase(lines[i].find_last_not_of(' ') + 1);
}

}  // namespace

Lines heat_map(const Tensor& weights, const Room& room) {
  return draw(weights, fit(weights, room), room.color);
}

Lines heat_maps(std::span<const HeadMap> maps, const Room& room) {
  const Layout layout = arrange(maps, room);
  Lines lines;
  for (auto rest = maps; layout.per_row > 0 && !rest.empty();) {
    const auto in_row = std::min(rest.size(), static_cast<std::size_t>(layout.per_row));
    append_row(lines, rest.first(in_row), layout.each);
    rest = rest.subspan(in_row);
  }
  return lines;
}

}  // namespace heed
