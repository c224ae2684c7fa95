#include <heed/autograd/error.h>
#include <heed/autograd/graph_view.h>
#include <heed/autograd/node.h>

#include <algorithm>
#include <sstream>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace heed {
namespace {

/// The nodes that `y` was made of, in the order in which they were made.
class Graph {
 public:
  Graph(std::string_view op, const Tensor& y, const Parameters& names) {
    if (!y.defined()) throw GraphError(text(op, ": the tensor is undefined, it has no graph"));
    dtype_ = y.dtype();
    if (y.requires_grad())
      find(*y.node());
    else
      constants_.insert(y.storage().get());
    std::ranges::sort(nodes_, {}, &Node::number);
    for (std::size_t i = 0; i < nodes_.size(); ++i) ids_[nodes_[i]] = i;
    give_names(names);
  }

  const std::vector<const Node*>& nodes() const { return nodes_; }
  DType dtype() const { return dtype_; }
  std::size_t id(const Node& node) const { return ids_.at(&node); }

  /// That of a node, or of the storage of a constant; empty if it has none.
  std::string_view name(const void* of) const {
    const auto found = names_.find(of);
    return found == names_.end() ? std::string_view() : found->second;
  }
  /// "constant", and which one if that is known.
  std::string constant(const Storage* values) const {
    const std::string_view known = name(values);
    return known.empty() ? "constant" : text("constant ", known);
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
        if (input.node())
          visit(*input.node());
        else if (input.has_values())
          constants_.insert(input.storage());
    }
  }

  /// The first name that each is given; where another has it too, a number tells them apart.
  void give_names(const Parameters& names) {
    std::unordered_set<std::string> taken;
    for (const auto& [name, value] : names) {
      if (!value.defined()) continue;
      const Node* node = value.node().get();
      const Storage* values = value.storage().get();
      const void* of = node ? static_cast<const void*>(node) : values;
      if (names_.contains(of) || !(node ? ids_.contains(node) : constants_.contains(values)))
        continue;
      std::string own = name;
      for (int n = 2; !taken.insert(own).second; ++n) own = text(name, '#', n);
      names_.emplace(of, std::move(own));
    }
  }

  DType dtype_ = f32;
  std::vector<const Node*> nodes_;
  std::unordered_map<const Node*, std::size_t> ids_;
  std::unordered_set<const Storage*> constants_;  // their values, where a node holds them
  std::unordered_map<const void*, std::string> names_;
};

bool saves_inputs(const Node& node) {
  return std::ranges::any_of(node.inputs(), &Saved::has_values);
}

/// With backslashes before what would end the line or the string.
std::string escaped(std::string_view name) {
  std::string result;
  for (const char c : name) {
    if (c == '"' || c == '\\' || c == '\n') result += '\\';
    result += c == '\n' ? 'n' : c;
  }
  return result;
}

// ---- text

constexpr std::size_t kWidth = 48;  // of what stands before the shape

std::string reference(const Graph& graph, const Node& node) {
  const std::string_view name = graph.name(&node);
  return name.empty() ? text('%', graph.id(node)) : escaped(name);
}

std::string argument(const Graph& graph, const Saved& input) {
  if (!input.defined()) return "none";
  if (input.node()) return reference(graph, *input.node());
  return escaped(graph.constant(input.storage())) + ' ' + graph.type(input);
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
std::string quoted(std::string_view label) { return '"' + escaped(label) + '"'; }

std::string label(const Graph& graph, const Node& node) {
  std::string result(graph.name(&node));
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
      out << "  " << from
          << " [label=" << quoted(graph.constant(input.storage()) + '\n' + graph.type(input))
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
  if (graph.nodes().empty())
    out << "%0 = " << escaped(graph.constant(y.storage().get())) << "  " << y.shape() << '\n';
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
    out << "  n0 [label=" << quoted(text(graph.constant(y.storage().get()), '\n', y.shape()))
        << ", shape=plain];\n";
  for (const Node* node : graph.nodes()) write_node(out, graph, *node);
  out << "}\n";
  return std::move(out).str();
}

}  // namespace heed
