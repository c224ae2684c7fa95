#include <heed/autograd/node.h>

#include <atomic>
#include <utility>

namespace heed {
namespace {

std::atomic<std::uint64_t> nodes_made{0};

// Note [Destruction without recursion] The last handle on a long chain frees its node, which frees
// the node before it, and so on. The first one to die on a thread therefore works through a list,
// onto which every node that dies meanwhile is put.
constinit thread_local Node* dead = nullptr;
constinit thread_local bool burying = false;

}  // namespace

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
  detail::count_nodes(1);
}

Node::~Node() { detail::count_nodes(-1); }

void Node::drop() noexcept {
  if (!owners_.leave()) return;
  next_dead_ = std::exchange(dead, this);
  if (burying) return;
  burying = true;
  while (dead) delete std::exchange(dead, dead->next_dead_);
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
