// ops_page FILE: writes docs/ops.md from the op table. ops_page --check FILE: fails if the file is
// another.
#include <heed/autograd/error.h>
#include <heed/tests/autograd/op_table.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>

namespace heed::op_table {
namespace {

std::string joined(const std::vector<std::string>& parts, const std::string& between) {
  std::string result;
  for (const std::string& part : parts) result += (result.empty() ? "" : between) + part;
  return result;
}

/// What the graph of a call keeps: "nothing", "inputs", "input 1, output, 2 more".
std::string kept(const Variant& variant) {
  List x = draw(variant, f64);
  for (Tensor& input : x) input.requires_grad_();
  const Tensor y = variant.call(x);
  std::set<const Storage*> storages = saved_by(y);
  const auto keeps = [&](const Tensor& tensor) {
    return storages.erase(tensor.storage().get()) > 0;
  };
  std::vector<std::string> inputs, result;
  const bool output = keeps(y);
  for (std::size_t i = 0; i < x.size(); ++i)
    if (keeps(x[i])) inputs.push_back(text(i + 1));
  if (!inputs.empty() && inputs.size() == x.size())
    result.push_back(x.size() == 1 ? "input" : "inputs");
  else if (!inputs.empty())
    result.push_back((inputs.size() == 1 ? "input " : "inputs ") + joined(inputs, " and "));
  if (output) result.push_back("output");
  if (!storages.empty()) result.push_back(text(storages.size(), " more"));
  return result.empty() ? "nothing" : joined(result, ", ");
}

/// Of the variant that keeps most.
std::string saved(const Row& row) {
  if (row.order == 0) return "";
  const auto count = [](const Variant& variant) {
    List x = draw(variant, f64);
    for (Tensor& input : x) input.requires_grad_();
    return saved_by(variant.call(x)).size();
  };
  return kept(*std::ranges::max_element(row.variants, {}, count));
}

/// For a cell of a table.
std::string escaped(const std::string& content) {
  std::string result;
  for (const char c : content) result += c == '|' ? std::string("\\|") : std::string(1, c);
  return result;
}

void write(std::ostream& out) {
  out << "# Every op\n\n"
         "Written from the table that the tests and `heed gradcheck` go through "
         "(`tests/autograd/op_table.h`); do not edit.\n\n"
         "B batch, T time, C channels, H heads, D = C / H, V vocabulary; `...` any axes before. "
         "Saved "
         "is what the graph of a\ncall keeps for the backward, with *n more* made on the way; *or* "
         "tells overloads apart. Every op is checked in f32 and\nf64, its gradient to second "
         "order.\n";
  for (const Family& family : families()) {
    out << "\n## " << family.name << "\n\n"
        << "Declared in [`<heed/autograd/ops/" << family.name << ".h>`](../autograd/ops/"
        << family.name << ".h).\n\n"
        << "| op | formula | shapes | saved | policy | source |\n|---|---|---|---|---|---|\n";
    for (const About& about : family.ops) {
      std::vector<std::string> kinds;
      for (const Row& row : rows())
        if (row.about.op == about.op)
          if (const std::string kind = saved(row); std::ranges::find(kinds, kind) == kinds.end())
            kinds.push_back(kind);
      out << "| `" << escaped(about.call) << "` | " << escaped(about.formula) << " | "
          << escaped(about.shapes) << " | " << joined(kinds, " or ") << " | "
          << escaped(about.policy) << " | " << escaped(about.source) << " |\n";
    }
  }
}

int run(const std::vector<std::string>& words) {
  const bool check = words.size() == 2 && words[0] == "--check";
  if (words.size() != (check ? 2 : 1)) {
    std::cerr << "usage: ops_page [--check] FILE\n";
    return 2;
  }
  std::ostringstream page;
  write(page);
  if (!check) {
    std::ofstream file(words[0]);
    return file << page.str() && file.flush() ? 0 : 1;
  }
  std::ifstream file(words[1]);
  if (std::string(std::istreambuf_iterator<char>(file), {}) == page.str()) return 0;
  std::cerr << words[1] << " is not what the op table gives; run: bin/tests/ops_page " << words[1]
            << " (in the build)\n";
  return 1;
}

}  // namespace
}  // namespace heed::op_table

int main(int argc, char** argv) { return heed::op_table::run({argv + 1, argv + argc}); }
