#include <heed/autograd/autograd.h>

#include <limits>

#include "op_table.h"

namespace heed::op_table {
namespace {

using reference::Index;

/// Ids below `limit`, among them the first, the last and repeated ones.
Tokens ids(const Shape& shape, std::int64_t limit) {
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < shape.numel(); ++i) values.push_back((i * i + limit - 1) % limit);
  return tokens(values, shape);
}

std::int64_t id_at(const Tokens& tokens, const Index& index) {
  const Array values{tokens.shape(), numbers(tokens).to_vector()};
  return static_cast<std::int64_t>(values(index));
}

/// One refusal for each id that is outside [0, 3), the second of two.
std::vector<Refusal> refuses_ids(const std::string& name, std::function<void(const Tokens&)> call) {
  std::vector<Refusal> result;
  for (const std::int64_t id :
       {std::int64_t{-1}, std::int64_t{3}, std::int64_t{999999999},
        std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()})
    result.push_back(
        refuses<IndexError>(text("id ", id), {name, text(id), "position 1", "0 to 2"}, [=] {
          call(tokens({0, id}, {2}));
        }));
  return result;
}

Row embedding_row() {
  const auto variant = [](std::int64_t rows, std::int64_t width, Shape shape) -> Variant {
    const Tokens t = ids(shape, rows);
    return {text(rows, " x ", width, ", tokens ", shape),
            {{.shape = {rows, width}}},
            [t](const List& x) { return embedding(x[0], t); },
            [t](const Arrays& x) {
              Shape to = t.shape();
              to.push_back(x[0].shape[1]);
              return reference::build(to, [&](const Index& index) {
                const Index place(index.begin(), index.end() - 1);
                return x[0]({id_at(t, place), index.back()});
              });
            }};
  };
  Row row = {
      .declaration = "embedding(Tensor, Tokens)",
      .name = "embedding",
      .variants = {variant(5, 3, {4}), variant(3, 17, {2, 5}), variant(4, 2, {2, 2, 3}),
                   variant(4, 2, {}), variant(1, 1, {1}), variant(3, 2, {0}), variant(3, 0, {2})},
      .refusals = refuses_ids("embedding", [](const Tokens& t) {
        embedding(zeros({3, 2}), t);
      })};
  row.refusals.push_back(refuses<ShapeError>("one axis", {"embedding", "(3)", "(V, D)"},
                                             [] { embedding(zeros({3}), tokens({0}, {1})); }));
  return row;
}

Row gather_row() {
  const auto variant = [](Shape from, std::size_t axis, Shape shape) -> Variant {
    const Tokens t = ids(shape, from[axis]);
    const auto named = static_cast<std::int64_t>(axis) - (axis % 2 ? from.ndim() : 0);
    return {text(from, " axis ", named, ", tokens ", shape),
            {{.shape = from}},
            [=](const List& x) { return gather(x[0], named, t); },
            [=](const Arrays& x) {
              return reference::build(t.shape(), [&](Index index) {
                index[axis] = id_at(t, index);
                return x[0](index);
              });
            }};
  };
  Row row = {.declaration = "gather(Tensor, std::int64_t, Tokens)",
             .name = "gather",
             .variants = {variant({3, 4, 5}, 0, {6, 4, 5}), variant({3, 4, 5}, 1, {3, 2, 5}),
                          variant({3, 4, 5}, 2, {3, 4, 7}), variant({3, 4}, 1, {2, 1}),
                          variant({1}, 0, {3}), variant({1}, 0, {1}), variant({3, 4}, 1, {3, 0})},
             .refusals = refuses_ids("gather", [](const Tokens& t) { gather(zeros({3}), 0, t); })};
  row.refusals.push_back(refuses<ShapeError>("rank", {"gather", "(3)", "(3, 2)"}, [] {
    gather(zeros({3, 2}), 1, tokens({0, 0, 0}, {3}));
  }));
  row.refusals.push_back(refuses<ShapeError>("longer", {"gather", "(4, 1)", "(3, 2)"}, [] {
    gather(zeros({3, 2}), 1, tokens({0, 0, 0, 0}, {4, 1}));
  }));
  row.refusals.push_back(refuses<IndexError>("axis outside", {"gather", "axis 2"}, [] {
    gather(zeros({3, 2}), 2, tokens({0}, {1, 1}));
  }));
  return row;
}

Row one_hot_row() {
  const auto variant = [](Shape shape, std::int64_t classes) -> Variant {
    const Tokens t = ids(shape, classes);
    Shape to = shape;
    to.push_back(classes);
    return {text(shape, " of ", classes),
            {},
            [=](const List&) { return one_hot(t, classes, f64); },
            [=](const Arrays&) {
              return reference::build(to, [&](const Index& index) {
                const Index place(index.begin(), index.end() - 1);
                return id_at(t, place) == index.back() ? 1. : 0.;
              });
            }};
  };
  return {.declaration = "one_hot(Tokens, std::int64_t, DType)",
          .name = "one_hot",
          .order = 0,
          .variants = {variant({2, 3}, 4), variant({}, 3), variant({1}, 1), variant({0}, 3)},
          .refusals = refuses_ids("one_hot", [](const Tokens& t) { one_hot(t, 3); })};
}

}  // namespace

std::vector<Row> index_rows() { return {embedding_row(), gather_row(), one_hot_row()}; }

}  // namespace heed::op_table
