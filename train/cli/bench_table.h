#pragma once

#include <heed/train/cli/output.h>
#include <heed/train/metrics.h>

#include <string>
#include <vector>

namespace heed::cli {

/// What a command has measured: a table on a terminal that has the room, a line for each row
/// elsewhere, or JSON.
class BenchTable {
 public:
  struct Column {
    std::string title;
    int width;  ///< at least; the first column is set to the left, the others to the right
  };

  BenchTable(std::vector<Column> columns, bool json);

  /// One cell for each column, which may be empty; as JSON, the fields.
  void row(const std::vector<std::string>& cells, const Fields& fields) const;

 private:
  void print(const std::vector<std::string>& cells) const;

  std::vector<Column> columns_;
  bool json_;
  bool as_table_;
};

}  // namespace heed::cli
