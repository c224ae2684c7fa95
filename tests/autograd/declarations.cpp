#include "declarations.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>
#include <stdexcept>

#include "op_table.h"

namespace heed::op_table {
namespace {

/// Without comments, preprocessor lines and what stands in the braces of classes and functions. The
/// braces of namespaces themselves are dropped, those of default arguments kept.
std::string namespace_scope(const std::string& header) {
  static const std::regex noise(R"(//[^\n]*|/\*[^]*?\*/|(^|\n)[ \t]*#[^\n]*)");
  static const std::regex opens_namespace(R"((^|[;{}\s])namespace(\s+[\w:]+)?\s*$)");
  const std::string text = std::regex_replace(header, noise, "\n");
  std::string result;
  int parentheses = 0, body = 0;
  for (const char c : text) {
    if (c == '(') ++parentheses;
    if (c == ')') --parentheses;
    if (parentheses == 0 && c == '{') {
      if (body > 0 || !std::regex_search(result, opens_namespace)) ++body;
      if (body == 0) result += ';';
    } else if (parentheses == 0 && c == '}') {
      if (body > 0) --body;
      result += ';';
    } else if (body == 0) {
      result += c;
    }
  }
  return result;
}

std::string replaced(const std::string& text, const char* pattern, const char* with) {
  return std::regex_replace(text, std::regex(pattern), with);
}

/// `const std::vector<Tensor>& xs = {}` as `std::vector<Tensor>`.
std::string type_of(std::string parameter) {
  parameter = replaced(parameter, R"(=[^]*)", "");
  parameter = replaced(parameter, R"(\bconst\b|&)", " ");
  parameter = replaced(parameter, R"(\s+)", " ");
  parameter = replaced(parameter, R"(^ | $)", "");
  return replaced(parameter, R"( \w+$)", "");
}

std::string types_of(const std::string& parameters) {
  std::string result, one;
  int depth = 0;
  const auto end_one = [&] {
    const std::string type = type_of(one);
    if (!type.empty()) result += (result.empty() ? "" : ", ") + type;
    one.clear();
  };
  for (const char c : parameters) {
    if (c == '<' || c == '{' || c == '(') ++depth;
    if (c == '>' || c == '}' || c == ')') --depth;
    if (c == ',' && depth == 0)
      end_one();
    else
      one += c;
  }
  end_one();
  return result;
}

}  // namespace

std::vector<std::string> declarations(const std::string& header) {
  // A result and a name before the first parenthesis; a variable has its "=" there.
  static const std::regex function(R"(^([^(=]*[\w>&*\]]\s+)(operator *[^\s\w(]+|\w+)\s*$)");
  std::vector<std::string> result;
  std::istringstream statements(namespace_scope(header));
  for (std::string statement; std::getline(statements, statement, ';');) {
    const std::size_t open = statement.find('('), close = statement.rfind(')');
    const std::string head = statement.substr(0, open);
    std::smatch match;
    if (open != std::string::npos && std::regex_search(head, match, function))
      result.push_back(match.str(2) + "(" + types_of(statement.substr(open + 1, close - open - 1)) +
                       ")");
  }
  return result;
}

std::vector<std::string> declarations_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> headers;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".h") headers.push_back(entry.path());
  std::ranges::sort(headers);
  std::vector<std::string> result;
  for (const auto& header : headers) {
    std::ifstream in(header);
    if (!in) throw std::runtime_error("cannot read " + header.string());
    const std::string content(std::istreambuf_iterator<char>(in), {});
    std::ranges::copy(declarations(content), std::back_inserter(result));
  }
  return result;
}

const std::vector<Unrowed>& unrowed() {
  static const std::vector<Unrowed> list = {
      {"add_into(Tensor, Tensor)", "changes its argument; tested with the engine, which uses it"},
      {"resolve_shape(std::string_view, Shape, AxisList)",
       "computes a shape; tested through reshape"},
  };
  return list;
}

std::vector<std::string> without_row(const std::vector<std::string>& declared) {
  std::vector<std::string> result;
  for (const std::string& declaration : declared) {
    const auto is_it = [&](const auto& row) { return row.declaration == declaration; };
    if (std::ranges::none_of(rows(), is_it) && std::ranges::none_of(unrowed(), is_it))
      result.push_back(declaration);
  }
  return result;
}

}  // namespace heed::op_table
