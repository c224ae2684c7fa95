#include <heed/autograd/node.h>

#include <atomic>
#include <utility>

namespace heed {
namespace {

std::atomic<std::uint64_t> nodes_made{0};
std::atomic<std::int64_t> nodes_alive{0};

// Note [Destruction without recursion] The last handle on a long chain frees its node, which frees
// the node before it, and so on. The first one to die on a thread therefore works through a list,
// onto which every node that dies meanwhile is put.
thread_local Node* dead = nullptr;
thread_local bool burying = false;

}  // namespace

std::int64_t live_nodes() { return nodes_alive.load(std::memory_order_relaxed); }

Saved::Saved(const Tensor& x, bool keep_values) : defined_(x.defined()) {
  if (!defined_) return;
  shape_ = x.shape();
  dtype_ = x.dtype();
  node_ = x.node();
  if (!keep_values) return;
  storage_ = x.storage();
  version_ = storage_->version();
}

Tensor Saved::unpack(std::string_view op, int which, Ref<Node> node) const {
  if (!defined_) return {};
  const auto what = [&] { return which == kOutput ? "output" : text("input ", which); };
  if (!storage_)
    throw GraphError(text(op, ": backward asks for its ", what(), ", which the op does not save"));
  if (storage_->version() != version_)
    throw GraphError(text(op, ": its ", what(), " of shape ", shape_,
                          " was changed in place after it was saved for the backward; change a "
                          "clone() instead, or run the backward first"));
  return Tensor(storage_, shape_, dtype_, std::move(node));
}

Node::Node(const Tensor& output, bool keep_output)
    : number_(nodes_made.fetch_add(1, std::memory_order_relaxed)), output_(output, keep_output) {
  nodes_alive.fetch_add(1, std::memory_order_relaxed);
}

Node::~Node() { nodes_alive.fetch_sub(1, std::memory_order_relaxed); }

void Node::drop() noexcept {
  if (!owners_.leave()) return;
  next_dead_ = std::exchange(dead, this);
  if (burying) return;
  burying = true;
  while (dead) {
    Node* node = std::exchange(dead, dead->next_dead_);
    const std::size_t size = node->bytes();
    node->~Node();
    release(node, size);
  }
  burying = false;
}

Tensor Context::input(std::size_t i) const {
  const Saved& saved = node_.inputs()[i];
  return saved.unpack(node_.name(), static_cast<int>(i), saved.node());
}

Tensor Context::output() const {
  Ref<Node> self(const_cast<Node*>(&node_));
  return node_.output().unpack(node_.name(), Saved::kOutput, std::move(self));
}

}  // namespace heed
