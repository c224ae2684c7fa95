#include <heed/autograd/node.h>
#include <heed/autograd/rng.h>
#include <heed/autograd/tensor.h>

#include <algorithm>
#include <new>
#include <utility>

namespace heed {

Tensor::State::State(Ref<Storage> values, Ref<Node> made_by, std::int64_t count, DType type,
                     const Shape& lengths)
    : storage(std::move(values)),
      node(std::move(made_by)),
      numel(count),
      dtype(type),
      shape(lengths) {}

Tensor::Tensor(Ref<Storage> storage, const Shape& shape, DType dtype, Ref<Node> node)
    : state_(Ref<State>::first(
          new State(std::move(storage), std::move(node), shape.numel(), dtype, shape))) {}

void Tensor::State::drop() noexcept {
  if (!owners.leave()) return;
  const Ref<Storage> last = std::move(storage);  // this may lie in it
  if (this == last->room())
    this->~State();
  else
    delete this;
}

void Tensor::undefined() {
  throw GraphError(
      "an undefined tensor was used; it stands for an absent input or a gradient that "
      "was never computed, see defined()");
}

std::int64_t Tensor::dim(std::int64_t axis) const {
  return shape()[normalize_axis("dim", axis, ndim())];
}

double Tensor::item() const {
  if (numel() != 1)
    throw ShapeError(
        text("item: a tensor of shape ", shape(), " has ", numel(), " elements, not one"));
  return dispatch(dtype(), [&](auto t) { return static_cast<double>(data<decltype(t)>()[0]); });
}

std::vector<double> Tensor::to_vector() const {
  return dispatch(dtype(), [&](auto t) {
    const auto values = data<decltype(t)>();
    return std::vector<double>(values.begin(), values.end());
  });
}

Tensor Tensor::detach() const { return Tensor(storage(), shape(), dtype()); }

Tensor& Tensor::requires_grad_(bool on) {
  State& s = state();
  if (s.node && !s.node->is_leaf())
    throw GraphError(text("requires_grad_: the tensor is the output of ", s.node->name(),
                          "; detach() gives one that may be a leaf or a constant"));
  if (on && !s.node) s.node = Ref<Node>::first(new Leaf(*this));
  if (!on) s.node = {};
  return *this;
}

Tensor Tensor::grad() const {
  const Ref<Node>& node = state().node;
  return node && node->is_leaf() ? static_cast<Leaf&>(*node).gradient : Tensor();
}

void Tensor::clear_grad() {
  const Ref<Node>& node = state().node;
  if (node && node->is_leaf()) static_cast<Leaf&>(*node).gradient = {};
}

void Tensor::refuse_dtype(DType asked) const {
  throw DTypeError(text("data: the tensor is ", dtype(), ", not ", asked, "; see to()"));
}

void Tensor::require_leaf() const {
  if (!node()->is_leaf())
    throw GraphError(text("mutate: the tensor is the output of ", node()->name(),
                          "; change a detach().clone() of it instead"));
}

Tensor empty(const Shape& shape, DType dtype) {
  const std::int64_t numel = shape.numel();
  std::int64_t bytes;
  if (__builtin_mul_overflow(numel, size_of(dtype), &bytes))
    throw ShapeError(text("empty: shape ", shape, " has more bytes than can be counted"));
  using State = Tensor::State;
  static_assert(sizeof(State) <= Storage::kRoom);
  Ref<Storage> storage = Storage::allocate(static_cast<std::size_t>(bytes));
  void* const room = storage->room();
  Tensor x;
  x.state_ = Ref<State>::first(::new (room) State(std::move(storage), {}, numel, dtype, shape));
  return x;
}

namespace {

/// A tensor whose elements are `next()`, called in row-major order.
template <class Next>
Tensor generate(Shape shape, DType dtype, Next&& next) {
  Tensor x = empty(shape, dtype);
  dispatch(dtype, [&](auto t) {
    using T = decltype(t);
    for (T& element : x.mutate<T>()) element = static_cast<T>(next());
  });
  return x;
}

}  // namespace

Tensor tensor(std::vector<double> values, Shape shape, DType dtype) {
  if (static_cast<std::int64_t>(values.size()) != shape.numel())
    throw ShapeError(text("tensor: ", values.size(), " values for shape ", shape, ", which holds ",
                          shape.numel()));
  return generate(shape, dtype, [next = values.begin()]() mutable { return *next++; });
}

Tensor full(Shape shape, double value, DType dtype) {
  return generate(shape, dtype, [value] { return value; });
}
Tensor zeros(Shape shape, DType dtype) { return full(shape, 0, dtype); }
Tensor ones(Shape shape, DType dtype) { return full(shape, 1, dtype); }

Tensor eye(std::int64_t n, DType dtype) {
  return generate({n, n}, dtype,
                  [n, i = std::int64_t{0}]() mutable { return i++ % (n + 1) ? 0. : 1.; });
}

Tensor arange(std::int64_t n, DType dtype) {
  return generate({n}, dtype, [i = 0.]() mutable { return i++; });
}

Tensor uniform(Shape shape, Rng& rng, double low, double high, DType dtype) {
  if (!(low <= high)) throw ValueError(text("uniform: low ", low, " is not at most high ", high));
  return generate(shape, dtype, [&] { return low + (high - low) * rng.uniform(); });
}

Tensor normal(Shape shape, Rng& rng, double mean, double std, DType dtype) {
  if (!(std >= 0)) throw ValueError(text("normal: std ", std, " is negative"));
  return generate(shape, dtype, [&] { return mean + std * rng.normal(); });
}

namespace {

constexpr std::int64_t kShown = 8;  // of an axis; a longer one shows its ends

void print_axis(std::ostream& out, const std::vector<double>& values, const Shape& shape,
                std::size_t axis, std::size_t& at) {
  if (axis == shape.size()) {
    out << values[at++];
    return;
  }
  std::size_t inner = 1;
  for (std::size_t i = axis + 1; i < shape.size(); ++i) inner *= static_cast<std::size_t>(shape[i]);
  const bool last = axis + 1 == shape.size();
  out << '[';
  for (std::int64_t i = 0; i < shape[axis]; ++i) {
    if (i) out << (last ? ", " : ",\n") << std::string(last ? 0 : axis + 1, ' ');
    if (shape[axis] > kShown && i == kShown / 2) {
      out << (last ? "..., " : "...,\n") << std::string(last ? 0 : axis + 1, ' ');
      const std::int64_t skipped = shape[axis] - kShown;
      at += static_cast<std::size_t>(skipped) * inner;
      i += skipped;
    }
    print_axis(out, values, shape, axis + 1, at);
  }
  out << ']';
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Tensor& x) {
  if (!x.defined()) return out << "undefined";
  std::size_t at = 0;
  print_axis(out, x.to_vector(), x.shape(), 0, at);
  return out << ' ' << x.shape() << ' ' << x.dtype();
}

}  // namespace heed
