#pragma once

#include <heed/autograd/tensor.h>

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace heed {

/// What a node remembers of a tensor: its place in the graph and, if the backward may see them, its
/// values with the version they had. Never a handle: a node that held its own output would not die.
class Saved {
 public:
  static constexpr int kOutput = -1;  // for `which`; inputs are 0, 1, ...

  Saved() = default;
  Saved(const Tensor& x, bool keep_values) : defined_(x.defined()) {
    if (!defined_) return;
    shape_ = x.shape();
    dtype_ = x.dtype();
    node_ = x.node();
    if (!keep_values) return;
    storage_ = x.storage();
    version_ = storage_->version();
  }

  bool defined() const { return defined_; }
  const Shape& shape() const { return shape_; }
  DType dtype() const { return dtype_; }
  const Ref<Node>& node() const { return node_; }
  bool has_values() const { return static_cast<bool>(storage_); }
  /// The values, if they are held.
  const Storage* storage() const { return storage_.get(); }
  /// The tensor again, as made by `node`. Throws GraphError naming `op` and which tensor of it this
  /// is if its values were not kept or have changed since.
  Tensor unpack(std::string_view op, int which, Ref<Node> node) const;
  void forget_values() { storage_ = {}; }

 private:
  Shape shape_;
  DType dtype_ = f32;
  bool defined_ = false;
  std::uint32_t version_ = 0;
  Ref<Storage> storage_;
  Ref<Node> node_;
};

/// The gradients that a backward returns, one for each input in order; undefined where none flows.
class Grads : public std::vector<Tensor, CacheAllocator<Tensor>> {
 public:
  Grads() = default;
  /// n undefined ones, to be filled.
  explicit Grads(std::size_t n) : vector(n) {}
  Grads(const std::vector<Tensor>& list) : vector(list.begin(), list.end()) {}

  /// One of `{a, b, {}}`. What such a list holds is const; this may be moved out all the same.
  struct Given {
    Given() = default;
    Given(Tensor x) : gradient(std::move(x)) {}
    mutable Tensor gradient;
  };
  Grads(std::initializer_list<Given> list) {
    reserve(list.size());
    for (const Given& each : list) push_back(std::move(each.gradient));
  }
};

class Sweep;

/// Where a tensor came from: a leaf that collects its gradient, or an op that was applied. Nodes
/// are numbered as they are made, so inputs always have smaller numbers than what was made of them.
class Node : public InBlock {
 public:
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  std::uint64_t number() const { return number_; }
  virtual std::string_view name() const = 0;
  /// What the node made: shape and dtype.
  const Saved& output() const { return output_; }
  /// What it was made of; no entries for a leaf.
  std::span<const Saved> inputs() const { return inputs_; }
  /// The gradient of each input for the gradient `g` of the output, with a graph of its own if
  /// recording is on.
  virtual Grads backward(const Tensor& g) = 0;
  /// Lets go of what only backward needed; backward then throws GraphError.
  virtual void forget_saved() {}
  bool is_leaf() const { return inputs_.empty(); }

  void retain() { owners_.enter(); }
  void drop() noexcept;

 protected:
  explicit Node(const Tensor& output, bool keep_output);
  virtual ~Node();

 private:
  friend class Sweep;

  const std::uint64_t number_;
  Owners owners_;
  // The sweep that is passing, and the node's place in it; see engine.cpp.
  Sweep* sweep_ = nullptr;
  std::uint32_t place_ = 0;
  Node* next_dead_ = nullptr;

 protected:
  Saved output_;
  std::span<const Saved> inputs_;  // where the derived class keeps them
  bool released_ = false;
};

inline void detail::attach(Tensor& y, Ref<Node> node) { y.state_->node = std::move(node); }

/// The node of a tensor that asked for its gradient, and the slot where the gradient is collected.
class Leaf final : public Node {
 public:
  explicit Leaf(const Tensor& x) : Node(x, false) {}
  std::string_view name() const override { return "leaf"; }
  Grads backward(const Tensor&) override { return {}; }

  Tensor gradient;
};

/// What the backward of an op may see.
class Context {
 public:
  explicit Context(const Node& node) : node_(node) {}

  std::size_t inputs() const { return node_.inputs().size(); }
  /// Whether anyone asked for the gradient of input `i`.
  bool needs(std::size_t i) const { return static_cast<bool>(node_.inputs()[i].node()); }
  /// Shape of input `i`; () for an absent one.
  const Shape& shape(std::size_t i) const { return node_.inputs()[i].shape(); }
  DType dtype() const { return node_.output().dtype(); }
  /// Input `i`, undefined if it was absent. Throws GraphError unless the op saves its inputs.
  Tensor input(std::size_t i) const;
  /// The output. Throws GraphError unless the op saves it.
  Tensor output() const;

 private:
  const Node& node_;
};

}  // namespace heed
