#include <heed/autograd/apply.h>
#include <heed/autograd/kernels/parallel.h>
#include <heed/autograd/ops/index.h>

#include <algorithm>

namespace heed {
namespace {

void require_range(std::string_view op, const Tokens& tokens, std::int64_t limit) {
  const auto ids = tokens.data();
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (ids[i] < 0 || ids[i] >= limit)
      throw IndexError(text(op, ": id ", ids[i], " at position ", i, " of tokens ", tokens.shape(),
                            " is outside 0 to ", limit - 1));
}

/// Calls `f(at, from)` for every element of `shape`: its offset there, and the offset in `wide` of
/// the element whose index along `axis` is the id.
template <class F>
void for_each_indexed(const Tokens& tokens, const Shape& wide, std::size_t axis, F f) {
  const Shape& shape = tokens.shape();
  const auto ids = tokens.data();
  std::array<std::int64_t, Shape::kMaxRank> stride{}, index{};
  std::int64_t step = 1;
  for (std::size_t i = wide.size(); i-- > 0; step *= wide[i]) stride[i] = step;
  for (std::size_t at = 0; at < ids.size(); ++at) {
    std::int64_t from = ids[at] * stride[axis];
    for (std::size_t i = 0; i < shape.size(); ++i)
      if (i != axis) from += index[i] * stride[i];
    f(at, static_cast<std::size_t>(from));
    for (std::size_t i = shape.size(); i-- > 0;) {
      if (++index[i] < shape[i]) break;
      index[i] = 0;
    }
  }
}

}  // namespace

namespace ops {

struct Embedding {
  static constexpr std::string_view name = "embedding";
  static constexpr Saves saves = Saves::none;
  Tokens tokens;
  Tensor forward(const Tensor& table) const {
    Shape shape = tokens.shape();
    shape.push_back(table.dim(1));
    Tensor y = empty(shape, table.dtype());
    dispatch(table.dtype(), [&](auto t) {
      using T = decltype(t);
      const T* rows = table.data<T>().data();
      T* to = y.mutate<T>().data();
      const std::int64_t* ids = tokens.data().data();
      const std::int64_t count = tokens.numel(), width = table.dim(1);
      kernels::for_each(count, width, [=](std::int64_t i) {
        std::copy_n(rows + ids[i] * width, width, to + i * width);
      });
    });
    return y;
  }
  Grads backward(const Context& ctx, const Tensor& g) const;
};

/// The reverse of Embedding: the rows of x added up in a table at their ids, in order; chunks are
/// columns, since ids repeat.
struct EmbeddingScatter {
  static constexpr std::string_view name = "embedding_scatter";
  static constexpr Saves saves = Saves::none;
  Tokens tokens;
  std::int64_t rows;
  Tensor forward(const Tensor& x) const {
    const std::int64_t width = x.dim(-1);
    Tensor table = zeros({rows, width}, x.dtype());
    dispatch(x.dtype(), [&](auto t) {
      using T = decltype(t);
      const T* from = x.data<T>().data();
      T* out = table.mutate<T>().data();
      const std::int64_t* ids = tokens.data().data();
      const std::int64_t count = tokens.numel();
      kernels::parallel_for(width, kernels::column_grain(width, count),
                            [=](std::int64_t begin, std::int64_t end) {
                              for (std::int64_t n = 0; n < count; ++n) {
                                T* __restrict row = out + ids[n] * width;
                                const T* more = from + n * width;
                                for (std::int64_t i = begin; i < end; ++i) row[i] += more[i];
                              }
                            });
    });
    return table;
  }
  Grads backward(const Context&, const Tensor& g) const { return {apply(Embedding{tokens}, g)}; }
};

Grads Embedding::backward(const Context& ctx, const Tensor& g) const {
  return {apply(EmbeddingScatter{tokens, ctx.shape(0)[0]}, g)};
}

struct Gather {
  static constexpr std::string_view name = "gather";
  static constexpr Saves saves = Saves::none;
  Tokens tokens;
  std::size_t axis;
  Tensor forward(const Tensor& x) const {
    Tensor y = empty(tokens.shape(), x.dtype());
    dispatch(x.dtype(), [&](auto t) {
      using T = decltype(t);
      const auto from = x.data<T>();
      const auto to = y.mutate<T>();
      for_each_indexed(tokens, x.shape(), axis, [&](auto at, auto i) { to[at] = from[i]; });
    });
    return y;
  }
  Grads backward(const Context& ctx, const Tensor& g) const;
};

/// The reverse of Gather: the elements of x added up in `shape` at their ids.
struct GatherScatter {
  static constexpr std::string_view name = "gather_scatter";
  static constexpr Saves saves = Saves::none;
  Tokens tokens;
  std::size_t axis;
  Shape shape;
  Tensor forward(const Tensor& x) const {
    Tensor y = zeros(shape, x.dtype());
    dispatch(x.dtype(), [&](auto t) {
      using T = decltype(t);
      const auto from = x.data<T>();
      const auto to = y.mutate<T>();
      for_each_indexed(tokens, shape, axis, [&](auto at, auto i) { to[i] += from[at]; });
    });
    return y;
  }
  Grads backward(const Context&, const Tensor& g) const { return {apply(Gather{tokens, axis}, g)}; }
};

Grads Gather::backward(const Context& ctx, const Tensor& g) const {
  return {apply(GatherScatter{tokens, axis, ctx.shape(0)}, g)};
}

}  // namespace ops

Tensor embedding(const Tensor& table, const Tokens& tokens) {
  if (table.ndim() != 2)
    throw ShapeError(text("embedding: the table has shape ", table.shape(), "; expected (V, D)"));
  require_range("embedding", tokens, table.dim(0));
  return apply(ops::Embedding{tokens}, table);
}

Tensor gather(const Tensor& x, std::int64_t axis, const Tokens& tokens) {
  const std::size_t at = normalize_axis("gather", axis, x.ndim());
  bool fits = tokens.ndim() == x.ndim();
  for (std::size_t i = 0; fits && i < x.shape().size(); ++i)
    fits = i == at || tokens.shape()[i] <= x.shape()[i];
  if (!fits)
    throw ShapeError(text("gather: tokens ", tokens.shape(), " for x ", x.shape(), " along axis ",
                          axis, "; expected as many axes, none longer than x's but that one"));
  require_range("gather", tokens, x.shape()[at]);
  return apply(ops::Gather{tokens, at}, x);
}

Tensor one_hot(const Tokens& tokens, std::int64_t classes, DType dtype) {
  require_range("one_hot", tokens, classes);
  Shape shape = tokens.shape();
  shape.push_back(classes);
  Tensor y = zeros(shape, dtype);
  dispatch(dtype, [&](auto t) {
    auto* row = y.mutate<decltype(t)>().data();
    for (const std::int64_t id : tokens.data()) {
      row[id] = 1;
      row += classes;
    }
  });
  return y;
}

}  // namespace heed
