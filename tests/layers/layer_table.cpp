#include "layer_table.h"

#include <algorithm>
#include <regex>

#include "layer_rows.h"

namespace heed::layer_table {

const std::vector<Row>& rows() {
  static const std::vector<Row> all = [] {
    std::vector<Row> list = part_rows();
    for (Row& row : model_rows()) list.push_back(std::move(row));
    return list;
  }();
  return all;
}

std::vector<std::string> layers_in(const std::string& header) {
  static const std::regex comment(R"(//[^\n]*)"), open(R"(\n(struct|class) (\w+)[^;{]*\{)");
  const std::string code = std::regex_replace(header, comment, "");
  std::vector<std::string> result;
  for (std::sregex_iterator at(code.begin(), code.end(), open), end; at != end; ++at) {
    const auto start = static_cast<std::size_t>(at->position()) + 1;
    const std::string body = code.substr(start, code.find("\n};", start) - start);
    if (body.find("operator()(") != std::string::npos &&
        body.find("void visit(Visitor&") != std::string::npos)
      result.push_back(at->str(2));
  }
  return result;
}

std::vector<std::string> without_row(const std::vector<std::string>& layers) {
  std::vector<std::string> result;
  for (const std::string& layer : layers)
    if (std::ranges::find(rows(), layer, &Row::layer) == rows().end()) result.push_back(layer);
  return result;
}

}  // namespace heed::layer_table
