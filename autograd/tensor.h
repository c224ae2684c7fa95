#pragma once

#include <heed/autograd/dtype.h>
#include <heed/autograd/memory.h>
#include <heed/autograd/shape.h>
#include <heed/autograd/storage.h>

#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace heed {

class Node;
class Rng;
class Tensor;

namespace detail {
/// Makes `y`, which nobody else holds, the output of `node`.
void attach(Tensor& y, Ref<Node> node);
}  // namespace detail

/// A handle to a row-major, contiguous array of f32 or f64 and to its place in the graph. Copying a
/// handle copies neither. A default-made Tensor is undefined: an absent input, or no gradient.
///
/// One graph, and with it every leaf that it uses, belongs to one thread at a time; tensors without
/// a node may be read from several.
class Tensor {
 public:
  Tensor() = default;
  /// An array over `storage` that `node` (none: a constant) made.
  Tensor(Ref<Storage> storage, const Shape& shape, DType dtype, Ref<Node> node = {});

  bool defined() const { return static_cast<bool>(state_); }
  /// All that follows throws GraphError on an undefined tensor.
  const Shape& shape() const { return state().shape; }
  /// Length of an axis, counted from the back if negative. Throws IndexError outside the range.
  std::int64_t dim(std::int64_t axis) const;
  std::int64_t ndim() const { return shape().ndim(); }
  std::int64_t numel() const { return state().numel; }
  DType dtype() const { return state().dtype; }

  /// The one element. Throws ShapeError if there is not exactly one.
  double item() const;
  /// The elements in row-major order.
  std::vector<double> to_vector() const;

  /// The same values, unknown to the graph; shares the storage.
  Tensor detach() const;
  /// A copy in storage of its own; the gradient passes through.
  Tensor clone() const;
  /// The values as `dtype`; the tensor itself if it has that type. The gradient passes through.
  Tensor to(DType dtype) const;

  /// Makes the tensor a leaf whose gradient `backward` collects, or (false) a constant. Throws
  /// GraphError on the output of an op.
  Tensor& requires_grad_(bool on = true);
  /// Whether gradients flow to this tensor: a leaf that asked for one, or the output of an op on
  /// such.
  bool requires_grad() const { return defined() && static_cast<bool>(state_->node); }
  /// What `backward` has summed up for this leaf; undefined if nothing yet.
  Tensor grad() const;
  /// Forgets the collected gradient.
  void clear_grad();

  /// The elements, row-major. T must be the dtype's type (float, double), else DTypeError.
  template <Element T>
  std::span<const T> data() const {
    require_dtype(dtype_of<T>);
    return {reinterpret_cast<const T*>(state_->storage->data()), count()};
  }
  /// The elements, to be changed: counts as one in-place change, so that a gradient which needed
  /// the old values is refused. Throws GraphError on the output of an op: its gradient would be
  /// that of the old values.
  template <Element T>
  std::span<T> mutate() {
    require_dtype(dtype_of<T>);
    note_change();
    return {reinterpret_cast<T*>(state_->storage->data()), count()};
  }

  const Ref<Storage>& storage() const { return state().storage; }
  const Ref<Node>& node() const { return state().node; }
  /// Whether this is the only handle on values that nobody else holds.
  bool single() const { return single_handle() && state_->storage->single(); }
  /// Whether this is the only handle; another tensor may share the values.
  bool single_handle() const { return state().owners.single(); }

 private:
  friend Tensor empty(const Shape& shape, DType dtype);
  friend void detail::attach(Tensor& y, Ref<Node> node);

  struct State : InBlock {
    Ref<Storage> storage;
    Ref<Node> node;
    std::int64_t numel;
    Owners owners;
    DType dtype;
    Shape shape;

    State(Ref<Storage> values, Ref<Node> made_by, std::int64_t count, DType type,
          const Shape& lengths);
    void retain() { owners.enter(); }
    void drop() noexcept;
  };

  State& state() const {
    if (!state_) undefined();
    return *state_;
  }
  std::size_t count() const { return static_cast<std::size_t>(state_->numel); }
  [[noreturn]] static void undefined();
  void require_dtype(DType asked) const {
    if (dtype() != asked) refuse_dtype(asked);
  }
  void note_change() {
    if (state_->node) require_leaf();
    state_->storage->changed();
  }
  [[noreturn]] void refuse_dtype(DType asked) const;
  void require_leaf() const;

  Ref<State> state_;
};

/// Values in row-major order. Throws ShapeError if their number is not the shape's.
Tensor tensor(std::vector<double> values, Shape shape, DType dtype = f32);
/// Undefined values, for an op that writes every element.
Tensor empty(const Shape& shape, DType dtype = f32);
Tensor zeros(Shape shape, DType dtype = f32);
Tensor ones(Shape shape, DType dtype = f32);
Tensor full(Shape shape, double value, DType dtype = f32);
/// The n x n identity matrix.
Tensor eye(std::int64_t n, DType dtype = f32);
/// 0, 1, ..., n - 1.
Tensor arange(std::int64_t n, DType dtype = f32);
/// Independent draws from [low, high). The same numbers for both types, rounded to f32 for f32.
/// Throws ValueError if low > high.
Tensor uniform(Shape shape, Rng& rng, double low = 0, double high = 1, DType dtype = f32);
/// Independent draws from the normal distribution. Throws ValueError if std < 0.
Tensor normal(Shape shape, Rng& rng, double mean = 0, double std = 1, DType dtype = f32);

/// Values with their nesting as brackets, long axes shortened, then shape and dtype.
std::ostream& operator<<(std::ostream& out, const Tensor& x);

}  // namespace heed
