#include <heed/autograd/error.h>
#include <heed/autograd/graph_view.h>
#include <heed/autograd/node.h>

#include <algorithm>
#include <sstream>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace heed {
namespace {

/// The nodes that `y` was made of, in the order in which they were made.
class Graph {
 public:
  Graph(std::string_view op, const Tensor& y, const Parameters& names) {
    if (!y.defined()) throw GraphError(text(op, ": the tensor is undefined, it has no graph"));
    dtype_ = y.dtype();
    if (!y.requires_grad()) return;
    find(*y.node());
    std::ranges::sort(nodes_, {}, &Node::number);
    for (std::size_t i = 0; i < nodes_.size(); ++i) ids_[nodes_[i]] = i;
    for (const NamedTensor& named : names)
      if (named.value.requires_grad()) names_.emplace(named.value.node().get(), named.name);
  }

  const std::vector<const Node*>& nodes() const { return nodes_; }
  DType dtype() const { return dtype_; }
  std::size_t id(const Node& node) const { return ids_.at(&node); }

  /// Empty if it has none.
  std::string_view name(const Node& node) const {
    const auto found = names_.find(&node);
    return found == names_.end() ? std::string_view() : found->second;
  }

  /// Shape, and the element type where it is not that of the whole.
  std::string type(const Saved& x) const {
    return x.dtype() == dtype_ ? text(x.shape()) : text(x.shape(), ' ', x.dtype());
  }

 private:
  void find(const Node& root) {
    std::vector<const Node*> waiting;
    const auto visit = [&](const Node& node) {
      if (!ids_.emplace(&node, 0).second) return;
      nodes_.push_back(&node);
      waiting.push_back(&node);
    };
    visit(root);
    while (!waiting.empty()) {
      const Node& node = *waiting.back();
      waiting.pop_back();
      for (const Saved& input : node.inputs())
        if (input.node()) visit(*input.node());
    }
  }

  DType dtype_ = f32;
  std::vector<const Node*> nodes_;
  std::unordered_map<const Node*, std::size_t> ids_;
  std::unordered_map<const Node*, std::string_view> names_;
};

bool saves_inputs(const Node& node) {
  return std::ranges::any_of(node.inputs(), &Saved::has_values);
}

// ---- text

constexpr std::size_t kWidth = 48;  // of what stands before the shape

std::string reference(const Graph& graph, const Node& node) {
  const std::string_view name = graph.name(node);
  return name.empty() ? text('%', graph.id(node)) : std::string(name);
}

std::string argument(const Graph& graph, const Saved& input) {
  if (!input.defined()) return "none";
  if (input.node()) return reference(graph, *input.node());
  return "constant " + graph.type(input);
}

/// What stands before the shape, line by line.
std::vector<std::string> statement(const Graph& graph, const Node& node) {
  std::vector<std::string> lines{reference(graph, node) + " = " + std::string(node.name())};
  if (node.is_leaf()) return lines;
  lines.back() += '(';
  const std::size_t indent = std::min(lines.back().size(), kWidth / 2);
  const std::span<const Saved> inputs = node.inputs();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string next = argument(graph, inputs[i]) + (i + 1 < inputs.size() ? "," : ")");
    if (i > 0 && lines.back().size() + 1 + next.size() > kWidth)
      lines.push_back(std::string(indent, ' '));
    else if (i > 0)
      lines.back() += ' ';
    lines.back() += next;
  }
  return lines;
}

std::string_view saves(const Node& node) {
  const bool output = node.output().has_values();
  if (saves_inputs(node)) return output ? "  saves inputs, output" : "  saves inputs";
  return output ? "  saves output" : "";
}

// ---- dot

/// As a string of the dot language.
std::string quoted(std::string_view label) {
  std::string result = "\"";
  for (const char c : label) {
    if (c == '\n') {
      result += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

std::string label(const Graph& graph, const Node& node) {
  std::string result(graph.name(node));
  if (!node.is_leaf() || result.empty()) {
    if (!result.empty()) result += " = ";
    result += node.name();
  }
  return result + '\n' + graph.type(node.output());
}

void write_node(std::ostream& out, const Graph& graph, const Node& node) {
  const std::size_t id = graph.id(node);
  out << "  n" << id << " [label=" << quoted(label(graph, node));
  if (node.is_leaf()) out << ", shape=ellipse";
  if (node.output().has_values()) out << ", style=bold";
  out << "];\n";
  for (std::size_t i = 0; i < node.inputs().size(); ++i) {
    const Saved& input = node.inputs()[i];
    if (!input.defined()) continue;
    std::string from;
    if (input.node()) {
      from = text('n', graph.id(*input.node()));
    } else {
      from = text('c', id, '_', i);
      out << "  " << from << " [label=" << quoted("constant\n" + graph.type(input))
          << ", shape=plain];\n";
    }
    out << "  " << from << " -> n" << id << (input.has_values() ? " [style=bold]" : "") << ";\n";
  }
}

}  // namespace

std::string to_text(const Tensor& y, const Parameters& names) {
  const Graph graph("to_text", y, names);
  const std::size_t count = std::max(graph.nodes().size(), std::size_t{1});
  std::ostringstream out;
  out << count << (count == 1 ? " node, " : " nodes, ") << graph.dtype() << '\n';
  if (graph.nodes().empty()) out << "%0 = constant  " << y.shape() << '\n';
  std::size_t width = 0;
  for (const Node* node : graph.nodes())
    for (const std::string& line : statement(graph, *node)) width = std::max(width, line.size());
  width = std::min(width, kWidth);
  for (const Node* node : graph.nodes()) {
    const std::vector<std::string> lines = statement(graph, *node);
    for (std::size_t i = 0; i + 1 < lines.size(); ++i) out << lines[i] << '\n';
    out << lines.back() << std::string(width - std::min(width, lines.back().size()), ' ') << "  "
        << graph.type(node->output()) << saves(*node) << '\n';
  }
  return std::move(out).str();
}

std::string to_dot(const Tensor& y, const Parameters& names) {
  const Graph graph("to_dot", y, names);
  std::ostringstream out;
  out << "digraph heed {\n"
         "  graph [ordering=in, label="
      << graph.dtype()
      << "];\n"
         "  node [shape=box];\n";
  if (graph.nodes().empty())
    out << "  n0 [label=" << quoted(text("constant\n", y.shape())) << ", shape=plain];\n";
  for (const Node* node : graph.nodes()) write_node(out, graph, *node);
  out << "}\n";
  return std::move(out).str();
}

}  // namespace heed
