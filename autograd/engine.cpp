#include <heed/autograd/anomaly.h>
#include <heed/autograd/engine.h>
#include <heed/autograd/grad_mode.h>
#include <heed/autograd/node.h>
#include <heed/autograd/ops/arithmetic.h>
#include <heed/autograd/profile.h>
#include <heed/autograd/scoped.h>

#include <algorithm>
#include <span>
#include <utility>

namespace heed {

// Note [The sweep] A node's inputs have smaller numbers than itself, so going through the nodes by
// descending number meets each one after everything that uses it: its gradient is then complete.
// A sweep first finds the nodes between y and what is asked for, in that same order, and gives each
// a place in its list, where the gradient waits; the node remembers sweep and place. Leaves have no
// gradient to pass on and are placed as they are met. A backward may itself sweep over some of the
// same nodes, so each place also holds what its node remembered before, and the destructor of the
// list puts that back, however the sweep ends, even while it is being set up.
class Sweep {
 public:
  /// Finds the nodes from `root` down to `targets`, or to every leaf if there are none.
  Sweep(Node& root, std::span<const Tensor> targets) : all_leaves_(targets.empty()) {
    for (const Tensor& target : targets) floor_ = std::min(floor_, target.node()->number());
    if (all_leaves_) floor_ = 0;
    find(root);
    for (const Tensor& target : targets)
      if (Place* place = place_of(*target.node())) place->target = place->useful = true;
    if (!all_leaves_) mark_useful();
  }

  Sweep(const Sweep&) = delete;
  Sweep& operator=(const Sweep&) = delete;

  void run(Node& root, Tensor seed, bool retain) {
    if (Place* place = place_of(root)) place->gradient = std::move(seed);
    for (Place& place : places_) {
      if (!place.beyond) continue;
      Tensor g = place.target ? place.gradient : std::exchange(place.gradient, {});
      if (!g.defined()) continue;
      Grads grads = gradients(*place.node, g);
      g = {};  // where this was the last handle, the sums may write to its buffer
      pass_on(*place.node, std::move(grads));
      if (!retain) place.node->forget_saved();
    }
  }

  Tensor gradient(Node& node) {
    Place* place = place_of(node);
    return place ? place->gradient : Tensor();
  }

  template <class F>
  void for_each_leaf(F&& f) {
    for (Place& place : places_)
      if (place.node->is_leaf() && place.gradient.defined())
        f(static_cast<Leaf&>(*place.node), std::move(place.gradient));
  }

 private:
  struct Place {
    Node* node;
    Sweep* outer;
    std::uint32_t outer_place;
    bool useful;  // asked for, or something before it is
    bool beyond;  // something before it is
    bool target = false;
    Tensor gradient = {};
  };
  template <class T>
  using List = std::vector<T, CacheAllocator<T>>;
  struct Places : List<Place> {
    ~Places() {
      for (const Place& place : *this) {
        place.node->sweep_ = place.outer;
        place.node->place_ = place.outer_place;
      }
    }
  };

  Place* place_of(Node& node) { return node.sweep_ == this ? &places_[node.place_] : nullptr; }

  void put(Node& node) {
    if (node.sweep_ == this) return;
    places_.push_back({.node = &node,
                       .outer = node.sweep_,
                       .outer_place = node.place_,
                       .useful = all_leaves_,
                       .beyond = all_leaves_ && !node.is_leaf()});
    node.sweep_ = this;
    node.place_ = static_cast<std::uint32_t>(places_.size() - 1);
  }

  /// By descending number: the newest of those that wait is next, and what it was made of is older.
  void find(Node& root) {
    List<Node*> waiting;  // a heap, with one entry for each use
    const auto meet = [&](Node& node) {
      if (node.number() < floor_) return;
      if (node.is_leaf()) return put(node);
      waiting.push_back(&node);
      std::ranges::push_heap(waiting, {}, &Node::number);
    };
    meet(root);
    while (!waiting.empty()) {
      std::ranges::pop_heap(waiting, {}, &Node::number);
      Node& node = *waiting.back();
      waiting.pop_back();
      if (node.sweep_ == this) continue;
      put(node);
      for (const Saved& input : node.inputs())
        if (input.node()) meet(*input.node());
    }
  }

  void mark_useful() {
    for (auto place = places_.rbegin(); place != places_.rend(); ++place) {
      for (const Saved& input : place->node->inputs()) {
        if (!input.node()) continue;
        const Place* before = place_of(*input.node());
        place->beyond |= before && before->useful;
      }
      place->useful |= place->beyond;
    }
  }

  static Grads gradients(Node& node, const Tensor& g) {
    const detail::TimedOp timed(node);
    if (!detail::anomaly) return node.backward(g);
    detail::anomaly->look_at_sum(node, g);
    const detail::Scoped<DetectAnomaly*> within(detail::anomaly,
                                                nullptr);  // its ops are its own affair
    return node.backward(g);
  }

  void pass_on(const Node& node, Grads grads) {
    const std::span<const Saved> inputs = node.inputs();
    if (grads.size() != inputs.size())
      throw GraphError(text(node.name(), ": backward returned ", grads.size(), " gradients for ",
                            inputs.size(), " inputs"));
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i].node() || !grads[i].defined()) continue;
      Place* place = place_of(*inputs[i].node());
      if (!place || !place->useful) continue;
      check(node, i, grads[i]);
      if (detail::anomaly) detail::anomaly->look_at_gradient(node, i, grads[i]);
      add(place->gradient, std::move(grads[i]));
    }
  }

  static void check(const Node& node, std::size_t i, const Tensor& gradient) {
    const Saved& input = node.inputs()[i];
    if (gradient.shape() != input.shape())
      throw ShapeError(text(node.name(), ": backward returned a gradient of shape ",
                            gradient.shape(), " for input ", i, " of shape ", input.shape(),
                            "; see sum_to"));
    if (gradient.dtype() != input.dtype())
      throw DTypeError(text(node.name(), ": backward returned a gradient of type ",
                            gradient.dtype(), " for input ", i, " of type ", input.dtype()));
  }

  static void add(Tensor& sum, Tensor gradient) {
    if (sum.defined())
      add_into(sum, std::move(gradient));
    else
      sum = std::move(gradient);
  }

  const bool all_leaves_;
  std::uint64_t floor_ = UINT64_MAX;
  Places places_;
};

namespace {

Tensor seed_for(std::string_view op, const Tensor& y, const Tensor& seed) {
  if (!seed.defined()) {
    if (y.numel() != 1)
      throw GraphError(text(
          op, ": the tensor of shape ", y.shape(),
          " has no single gradient; reduce it to one element, for instance with sum(), or pass "
          "{.seed = v} with v of that shape"));
    return ones(y.shape(), y.dtype());
  }
  if (seed.shape() != y.shape())
    throw ShapeError(text(op, ": the seed has shape ", seed.shape(), ", the tensor ", y.shape()));
  if (seed.dtype() != y.dtype())
    throw DTypeError(text(op, ": the seed is ", seed.dtype(), ", the tensor ", y.dtype()));
  return seed;
}

}  // namespace

std::vector<Tensor> grad(const Tensor& y, const std::vector<Tensor>& xs, GradOptions options) {
  for (std::size_t i = 0; i < xs.size(); ++i)
    if (!xs[i].requires_grad())
      throw GraphError(text("grad: input ", i, " of shape ", xs[i].shape(),
                            " does not require a gradient; call requires_grad_() on it before y is "
                            "computed from it"));
  Tensor seed = seed_for("grad", y, options.seed);
  std::vector<Tensor> found(xs.size());
  if (y.requires_grad() && !xs.empty()) {
    const GradMode mode(options.create_graph);
    Sweep sweep(*y.node(), xs);
    sweep.run(*y.node(), std::move(seed), options.retain_graph || options.create_graph);
    for (std::size_t i = 0; i < xs.size(); ++i) found[i] = sweep.gradient(*xs[i].node());
  }
  for (std::size_t i = 0; i < xs.size(); ++i) {
    if (!found[i].defined()) found[i] = zeros(xs[i].shape(), xs[i].dtype());
    // One that may be changed in place: not the seed, nor another's.
    if (!options.create_graph && !found[i].single()) found[i] = found[i].clone();
  }
  return found;
}

Tensor grad(const Tensor& y, const Tensor& x, GradOptions options) {
  return grad(y, std::vector{x}, std::move(options)).front();
}

void backward(const Tensor& loss, BackwardOptions options) {
  if (!loss.requires_grad())
    throw GraphError(
        "backward: the loss does not depend on any tensor that requires a gradient (a "
        "parameter, or requires_grad_(); was it computed under NoGrad or detached?)");
  Tensor seed = seed_for("backward", loss, options.seed);
  const NoGrad quiet;
  Sweep sweep(*loss.node(), {});
  sweep.run(*loss.node(), std::move(seed), options.retain_graph);
  sweep.for_each_leaf([](Leaf& leaf, Tensor gradient) {
    if (leaf.gradient.defined())
      add_into(leaf.gradient, std::move(gradient));
    else
      leaf.gradient = gradient.single() ? std::move(gradient) : gradient.clone();
  });
}

}  // namespace heed
