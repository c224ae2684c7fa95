#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <variant>
#include <vector>

namespace heed {

/// A name with its value, as one line of JSON holds it.
struct Field {
  std::string name;
  std::variant<double, std::int64_t, bool, std::string, std::vector<std::int64_t>> value;
};
using Fields = std::vector<Field>;

/// The fields as a JSON object on one line, in their order, without the line's end. Numbers have
/// dots and all their digits, whatever the locale; one that is not finite becomes null.
std::string json_line(const Fields& fields);

/// A file of JSON lines that grows: a line is with the system when `write` returns, so that others
/// can follow.
class MetricsFile {
 public:
  /// Adds to what the file holds. Throws FileError if it cannot be opened.
  explicit MetricsFile(std::filesystem::path path);
  /// Throws FileError if the line cannot be written.
  void write(const Fields& fields);

 private:
  std::filesystem::path path_;
  std::ofstream out_;
};

}  // namespace heed
