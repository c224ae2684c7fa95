#pragma once

#include <heed/autograd/kernels/attention_tile.h>
#include <heed/autograd/kernels/vector/exp2.h>
#include <heed/autograd/kernels/vector/product.h>
#include <heed/autograd/kernels/vector/transpose.h>

// See Note [Attention in tiles].

namespace heed::kernels {
namespace {

/// Keys of a tile in which some queries do not see some keys: the fewer, the less is made in vain.
constexpr std::int64_t kDiagonalKeys = 16;

template <class T>
constexpr T kInfinity = static_cast<T>(__builtin_inf());

/// The matrix from element (i, j) of `x` on, row by row, or with its rows as columns.
template <class T>
Strided<T> across(Rows<T> x, std::int64_t i = 0, std::int64_t j = 0) {
  return {x.data + i * x.row + j, x.row, 1};
}
template <class T>
Strided<T> across(Rows<const T> x, std::int64_t i = 0, std::int64_t j = 0) {
  return {x.data + i * x.row + j, x.row, 1};
}
template <class T>
Strided<T> down(Rows<const T> x, std::int64_t i) {
  return {x.data + i * x.row, 1, x.row};
}
template <class T>
Rows<T> part_of(Rows<T> x, std::int64_t i, std::int64_t j) {
  return {x.data + i * x.row + j, x.row};
}

/// c (m, n) = [c +] a b, n whole vectors, b row by row.
template <class T>
void product(std::int64_t m, std::int64_t n, std::int64_t k, Strided<T> a, Strided<T> b, Rows<T> c,
             bool add) {
  for (std::int64_t column = 0; column < n; column += kPanel<T>) {
    T* to = c.data + column;
    panel_product(m, least(n - column, kPanel<T>) / kWidth<T>, k, a, b.data + column, b.row, to,
                  c.row, add ? Start<T>{to, c.row} : Start<T>{});
  }
}

/// Rows of whole vectors: those of `from` where they are such, else copies with anything behind.
template <class T>
Rows<const T> whole_vectors(std::int64_t rows, std::int64_t columns, Rows<const T> from, T* room) {
  if (columns % kWidth<T> == 0) return from;
  const std::int64_t row = rounded_up(columns, kWidth<T>);
  for (std::int64_t i = 0; i < rows; ++i) copy(from.data + i * from.row, columns, room + i * row);
  return {room, row};
}

/// Asks for what the next tile reads first, some rows at a time.
template <class T>
struct Ahead {
  const AttentionTile<T>& tile;
  std::int64_t row = 0;

  void fetch() {
    constexpr std::int64_t kRows = 8, kLine = 64 / sizeof(T);
    const std::int64_t columns = least(tile.width, tile.value_width);
    for (const std::int64_t end = least(row + kRows, tile.next_rows); row < end; ++row)
      for (int i = 0; i < tile.next_count; ++i)
        for (std::int64_t c = 0; c < columns; c += kLine)
          __builtin_prefetch(tile.next[i].data + row * tile.next[i].row + c);
  }
};

/// Some keys of a tile, and the queries that see any of them: those from `first` on.
template <class T>
struct Part {
  std::int64_t key, keys, first;

  /// The keys from `key` on.
  Part(const AttentionTile<T>& tile, std::int64_t from) : key(from) {
    keys = least(kTileKeys, tile.keys - key);
    if (key + keys - 1 > tile.ahead) keys = least(kDiagonalKeys, keys);
    const std::int64_t blind = key - tile.ahead;
    first = blind > 0 ? blind / kWidth<T> * kWidth<T> : 0;
  }
};

/// Makes -inf of the scores of what is not seen.
template <class T>
void hide(const AttentionTile<T>& tile, const Part<T>& part, Rows<T> scores) {
  if (!tile.hidden && part.key + part.keys - 1 <= tile.ahead) return;
  for (std::int64_t j = 0; j < part.keys; ++j) {
    T* to = scores.data + j * scores.row;
    const std::int64_t key = part.key + j, blind = least(key - tile.ahead, tile.queries);
    for (std::int64_t i = part.first; i < blind; ++i) to[i] = -kInfinity<T>;
    if (!tile.hidden) continue;
    const std::uint8_t* hidden = tile.hidden + key * tile.hidden_key;
    std::uint8_t row[kTileQueries];  // side by side, for a loop of vectors without branches
    for (std::int64_t i = part.first; i < tile.queries; ++i) row[i] = hidden[i * tile.hidden_query];
    for (std::int64_t i = part.first; i < tile.queries; ++i) to[i] = row[i] ? -kInfinity<T> : to[i];
  }
}

/// Takes off each score what ALiBi does.
template <class T>
void tilt(const AttentionTile<T>& tile, const Part<T>& part, Rows<T> scores) {
  if (tile.alibi == T(0)) return;
  T places[kWidth<T>];
  for (int i = 0; i < kWidth<T>; ++i) places[i] = static_cast<T>(tile.place + i);
  for (std::int64_t c = part.first; c < scores.row; c += kWidth<T>) {
    const Vector<T> queries = load(places) + static_cast<T>(c);
    for (std::int64_t j = 0; j < part.keys; ++j) {
      T* const at = scores.data + j * scores.row + c;
      const Vector<T> apart = queries - static_cast<T>(part.key + j);
      store(at, load(at) - (apart < Vector<T>{} ? -apart : apart) * tile.alibi);
    }
  }
}

/// The scores of a part, from the scaled queries as columns.
template <class T>
void score(const AttentionTile<T>& tile, const Part<T>& part, Rows<T> q, Rows<T> scores) {
  product(part.keys, q.row - part.first, tile.width, across(tile.k, part.key),
          across(q, 0, part.first), part_of(scores, 0, part.first), false);
  tilt(tile, part, scores);
  hide(tile, part, scores);
}

/// 0 where the factor is, whatever x.
template <class T>
inline Vector<T> dropped(Vector<T> x, const T* factor) {
  const Vector<T> f = load(factor);
  return f == Vector<T>{} ? f : x * f;
}

/// The greater of `least` and each lane's greatest in so many rows; a NaN counts for nothing.
template <class T>
inline Vector<T> greatest(const T* from, std::int64_t rows, std::int64_t row, Vector<T> least) {
  constexpr int kAtOnce = 4;  // comparisons that do not wait for each other
  Vector<T> tops[kAtOnce] = {least, least, least, least};
  std::int64_t i = 0;
  for (; i + kAtOnce <= rows; i += kAtOnce)
#pragma GCC unroll 4
    for (int t = 0; t < kAtOnce; ++t) tops[t] = greater<T>(load(from + (i + t) * row), tops[t]);
  for (; i < rows; ++i) tops[0] = greater<T>(load(from + i * row), tops[0]);
#pragma GCC unroll 4
  for (int t = 1; t < kAtOnce; ++t) tops[0] = greater<T>(tops[t], tops[0]);
  return tops[0];
}

/// Turns the scores of a part into weights relative to the largest of their query so far. `most`
/// and `sum` are those of the queries, and `shrink` what has been summed before is to be multiplied
/// by.
template <class T>
void weigh(const Part<T>& part, Rows<T> scores, T* most, T* sum, T* shrink) {
  for (std::int64_t c = part.first; c < scores.row; c += kWidth<T>) {
    T* column = scores.data + c;
    const Vector<T> before = load(most + c);
    Vector<T> top = greatest(column, part.keys, scores.row, before), total{};
    store(most + c, top);
    top = top == -kInfinity<T> ? Vector<T>{} : top;
    for (std::int64_t j = 0; j < part.keys; ++j) {
      const Vector<T> p = exp2<T>(load(column + j * scores.row) - top);
      total += p;
      store(column + j * scores.row, p);
    }
    const Vector<T> less = exp2<T>(before - top);
    store(shrink + c, less);
    store(sum + c, load(sum + c) * less + total);
  }
}

/// Turns scores into weights, and the gradients of what the values are multiplied by into those of
/// the scores. `mean` is the mean of these gradients by the weights.
template <bool Drop, class T>
void pull_scores(const AttentionPull<T>& pull, const Part<T>& part, const T* mean,
                 Rows<const T> factors, Rows<T> weights, Rows<T> ds) {
  for (std::int64_t c = part.first; c < weights.row; c += kWidth<T>) {
    const Vector<T> most = load(pull.most + c), scale = load(pull.scale + c), m = load(mean + c);
    for (std::int64_t at = c; at < part.keys * weights.row; at += weights.row) {
      const Vector<T> p = exp2<T>(load(weights.data + at) - most) * scale;
      Vector<T> dp = load(ds.data + at);
      if constexpr (Drop) dp = dropped(dp, factors.data + at);
      store(weights.data + at, Drop ? dropped(p, factors.data + at) : p);
      store(ds.data + at, p == Vector<T>{} ? p : p * (dp - m));
    }
  }
}

/// Parts of the room of a tile: rows with a column for each query, in whole vectors.
template <class T>
struct Room {
  T* free;
  std::int64_t lanes;

  explicit Room(const AttentionTile<T>& tile)
      : free(tile.room), lanes(rounded_up(tile.queries, kWidth<T>)) {}
  Rows<T> take(std::int64_t rows) {
    const Rows<T> taken{free, lanes};
    free += rows * lanes;
    return taken;
  }
  Rows<T> zeros(std::int64_t rows) {
    for (std::int64_t i = 0; i < rows * lanes; i += kWidth<T>) store(free + i, Vector<T>{});
    return take(rows);
  }
};

template <class T>
void attend(const AttentionTile<T>& tile, Rows<T> y, T* most, T* scale) {
  Room<T> room(tile);
  const std::int64_t lanes = room.lanes;
  const Rows<T> q = room.take(tile.width), scores = room.take(kTileKeys);
  const Rows<T> factors = room.take(tile.drop ? kTileKeys : 0);
  const Rows<T> values = room.zeros(tile.value_width);
  T shrink[kTileQueries];
  T* const sum = scale;
  Ahead<T> ahead{tile};
  for (std::int64_t c = 0; c < lanes; c += kWidth<T>) {
    store(most + c, Vector<T>{} - kInfinity<T>);
    store(sum + c, Vector<T>{});
  }
  const auto scaled = [&](std::int64_t) { return Vector<T>{} + tile.scale; };
  transpose(tile.queries, tile.width, tile.q, scaled, lanes, q);
  for (std::int64_t key = 0; key < tile.keys;) {
    const Part<T> part(tile, key);
    score(tile, part, q, scores);
    ahead.fetch();
    weigh(part, scores, most, sum, shrink);
    if (tile.drop) {
      tile.drop(tile.context, key, part.keys, factors.data, lanes);
      for (std::int64_t i = 0; i < part.keys * lanes; i += kWidth<T>)
        store(scores.data + i, dropped(load(scores.data + i), factors.data + i));
    }
    for (std::int64_t c = part.first; c < lanes; c += kWidth<T>) {
      const Vector<T> less = load(shrink + c);
      for (std::int64_t i = c; i < tile.value_width * lanes; i += lanes)
        store(values.data + i, load(values.data + i) * less);
    }
    product(tile.value_width, lanes - part.first, part.keys, down(tile.v, key),
            across(scores, 0, part.first), part_of(values, 0, part.first), true);
    ahead.fetch();
    key += part.keys;
  }
  for (std::int64_t c = 0; c < lanes; c += kWidth<T>) {
    const Vector<T> total = load(sum + c), none{};
    store(most + c, total == none ? none : load(most + c));
    store(scale + c, total == none ? none : T(1) / total);
  }
  const auto by_query = [&](std::int64_t c) { return load(scale + c); };
  transpose<T>(tile.value_width, tile.queries, {values.data, lanes}, by_query, tile.value_width, y);
}

template <class T>
void attend_backward(const AttentionPull<T>& pull) {
  const AttentionTile<T>& tile = pull.tile;
  Room<T> room(tile);
  const std::int64_t lanes = room.lanes;
  const Rows<T> q = room.take(tile.width), g = room.take(tile.value_width);
  const Rows<T> weights = room.take(kTileKeys), ds = room.take(kTileKeys);
  const Rows<T> factors = room.take(tile.drop ? kTileKeys : 0);
  const Rows<T> dq = room.zeros(tile.width);
  const std::int64_t q_width = rounded_up(tile.width, kWidth<T>),
                     g_width = rounded_up(tile.value_width, kWidth<T>);
  const Rows<const T> q_rows = whole_vectors(tile.queries, tile.width, tile.q, room.free);
  room.free += tile.queries * q_width;
  const Rows<const T> g_rows = whole_vectors(tile.queries, tile.value_width, pull.g, room.free);

  const auto all = [](T factor) { return [=](std::int64_t) { return Vector<T>{} + factor; }; };
  transpose(tile.queries, tile.width, tile.q, all(tile.scale), lanes, q);
  transpose(tile.queries, tile.value_width, pull.g, all(1), lanes, g);
  T mean[kTileQueries];
  row_products(tile.queries, tile.value_width, pull.y, pull.g, mean);
  Ahead<T> ahead{tile};

  for (std::int64_t key = 0; key < tile.keys;) {
    const Part<T> part(tile, key);
    const std::int64_t first = part.first, queries = tile.queries - first;
    score(tile, part, q, weights);
    ahead.fetch();
    product(part.keys, lanes - first, tile.value_width, across(tile.v, key), across(g, 0, first),
            part_of(ds, 0, first), false);
    ahead.fetch();
    if (tile.drop) {
      tile.drop(tile.context, key, part.keys, factors.data, lanes);
      pull_scores<true>(pull, part, mean, {factors.data, lanes}, weights, ds);
    } else {
      pull_scores<false>(pull, part, mean, {}, weights, ds);
    }
    product(part.keys, g_width, queries, across(weights, 0, first), across(g_rows, first),
            part_of(pull.dv, key, 0), true);
    ahead.fetch();
    product(part.keys, q_width, queries, across(ds, 0, first), across(q_rows, first),
            part_of(pull.dk, key, 0), true);
    ahead.fetch();
    product(tile.width, lanes - first, part.keys, down(tile.k, key), across(ds, 0, first),
            part_of(dq, 0, first), true);
    ahead.fetch();
    key += part.keys;
  }
  transpose<T>(tile.width, tile.queries, {dq.data, lanes}, all(pull.slope), tile.width, pull.dq);
}

}  // namespace
}  // namespace heed::kernels
