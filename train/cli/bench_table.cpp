#include <heed/train/cli/bench_table.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

namespace heed::cli {

BenchTable::BenchTable(std::vector<Column> columns, bool json)
    : columns_(std::move(columns)), json_(json) {
  int room = -1;
  std::vector<std::string> titles;
  for (Column& column : columns_) {
    column.width = std::max(column.width, static_cast<int>(column.title.size()));
    room += column.width + 1;
    titles.push_back(column.title);
  }
  const Terminal terminal = out.terminal();
  as_table_ = terminal.interactive && terminal.width >= room;
  if (!json_ && as_table_) print(titles);
}

void BenchTable::print(const std::vector<std::string>& cells) const {
  std::string line = fmt::format("{:<{}}", cells[0], columns_[0].width);
  for (std::size_t i = 1; i < cells.size(); ++i)
    line += fmt::format(" {:>{}}", cells[i], columns_[i].width);
  line.erase(line.find_last_not_of(' ') + 1);
  out.raw(line);
}

void BenchTable::row(const std::vector<std::string>& cells, const Fields& fields) const {
  if (json_) return out.raw(json_line(fields));
  if (as_table_) return print(cells);
  std::string line = cells[0];
  const char* separator = ": ";
  for (std::size_t i = 1; i < cells.size(); ++i) {
    if (cells[i].empty()) continue;
    line += separator + columns_[i].title + " " + cells[i];
    separator = ", ";
  }
  out.line(line);
}

}  // namespace heed::cli
