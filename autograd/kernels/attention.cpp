#include <heed/autograd/kernels/attention.h>
#include <heed/autograd/kernels/buffer.h>
#include <heed/autograd/kernels/dropout.h>
#include <heed/autograd/kernels/gemm.h>
#include <heed/autograd/kernels/parallel.h>
#include <heed/autograd/kernels/vector_kernels.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <initializer_list>
#include <numbers>

namespace heed::kernels {
namespace {

/// The widths of keys and values in whole vectors, and the elements that a tile works in.
struct Room {
  std::int64_t width, value_width, elements;

  template <class T>
  Room(const Attention& a, const VectorKernels<T>& kernels)
      : width(ceil_div(a.width, kernels.width) * kernels.width),
        value_width(ceil_div(a.value_width, kernels.width) * kernels.width),
        elements(3 * kTileQueries * (kTileKeys + width + value_width)) {}
};

/// The cells of (B, H, Tq, Tk) from the first query of a tile on.
struct Cells {
  const Attention& attention;
  std::int64_t queries, begin;

  template <class T>
  static void drop(const void* context, std::int64_t key, std::int64_t keys, T* to,
                   std::int64_t row) {
    const auto& [a, queries, begin] = *static_cast<const Cells*>(context);
    for (std::int64_t i = 0; i < queries; ++i) {
      DropFactors<T> factors(a.draws, a.drop, begin + i * a.keys + key);
      for (std::int64_t j = 0; j < keys; ++j) to[j * row + i] = factors.next();
    }
  }
};

std::int64_t tiles_of(const Attention& a) { return ceil_div(a.queries, kTileQueries); }

/// One tile of queries of one head: number `index` of (B, H, tiles).
struct Place {
  std::int64_t b, h, kv, first, queries, row;  // row: of the first query in (B H Tq)

  Place(const Attention& a, std::int64_t index) {
    const std::int64_t head = index / tiles_of(a);
    b = head / a.heads;
    h = head % a.heads;
    kv = h / (a.heads / a.kv_heads);
    first = index % tiles_of(a) * kTileQueries;
    queries = std::min(kTileQueries, a.queries - first);
    row = head * a.queries + first;
  }
};

template <class T>
AttentionTile<T> tile_at(const Attention& a, const Place& at, const Cells& cells,
                         HeadRows<const T> q, HeadRows<const T> k, HeadRows<const T> v, T* room) {
  const std::int64_t ahead = a.causal ? at.first + a.keys - a.queries : a.keys;
  const auto [by_batch, by_head, by_query, by_key] = a.hidden_step;
  return {.queries = at.queries,
          .keys = std::clamp(ahead + at.queries, std::int64_t{0}, a.keys),
          .width = a.width,
          .value_width = a.value_width,
          .q = {q.at(at.b, at.h) + at.first * q.row, q.row},
          .k = {k.at(at.b, at.kv), k.row},
          .v = {v.at(at.b, at.kv), v.row},
          .scale = static_cast<T>(a.scale * std::numbers::log2e),
          .ahead = ahead,
          .alibi = static_cast<T>(a.alibi ? alibi_slope(at.h, a.heads) * std::numbers::log2e : 0),
          .place = at.first + a.keys - a.queries,
          .hidden = a.hidden ? a.hidden + at.b * by_batch + at.h * by_head + at.first * by_query
                             : nullptr,
          .hidden_query = by_query,
          .hidden_key = by_key,
          .drop = a.drop > 0 ? Cells::drop<T> : nullptr,
          .context = &cells,
          .room = room};
}

/// Has `tile` ask for rows of `next`: its queries of each of `by_query` and, where the diagonal is,
/// keys and values; as many of each as there are of both.
template <class T>
void look_ahead(AttentionTile<T>& tile, const Attention& a, const Place& next, HeadRows<const T> k,
                HeadRows<const T> v, std::initializer_list<HeadRows<const T>> by_query) {
  const std::int64_t diagonal = next.first + a.keys - a.queries;
  const std::int64_t key = a.causal ? std::clamp(diagonal, std::int64_t{0}, a.keys) : 0;
  tile.next[tile.next_count++] = {k.at(next.b, next.kv) + key * k.row, k.row};
  tile.next[tile.next_count++] = {v.at(next.b, next.kv) + key * v.row, v.row};
  for (const HeadRows<const T>& x : by_query)
    tile.next[tile.next_count++] = {x.at(next.b, next.h) + next.first * x.row, x.row};
  tile.next_rows = std::min(next.queries, a.keys - key);
}

}  // namespace

double alibi_slope(std::int64_t head, std::int64_t heads) {
  const auto below = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(heads)));
  const std::int64_t half_steps = head < below ? 2 * (head + 1) : 2 * (head - below) + 1;
  return std::exp2(-4 * static_cast<double>(half_steps) / static_cast<double>(below));
}

template <class T>
void attention_forward(const Attention& a, HeadRows<const T> q, HeadRows<const T> k,
                       HeadRows<const T> v, HeadRows<T> y, AttentionRow* rows) {
  const VectorKernels<T>& kernels = vector_kernels<T>();
  const std::int64_t count = a.batch * a.heads * tiles_of(a);
  const std::int64_t grain =
      gemm_grain(count, std::min(kTileQueries, a.queries), a.keys, a.width + a.value_width);
  parallel_for(count, grain, [&](std::int64_t begin, std::int64_t end) {
    const Buffer<T> room(Room(a, kernels).elements);
    for (std::int64_t i = begin; i < end; ++i) {
      const Place at(a, i);
      const Cells cells{a, at.queries, at.row * a.keys};
      T most[kTileQueries], scale[kTileQueries];
      AttentionTile<T> tile = tile_at(a, at, cells, q, k, v, room.data());
      if (i + 1 < count) look_ahead(tile, a, Place(a, i + 1), k, v, {q});
      kernels.attend(tile, {y.at(at.b, at.h) + at.first * y.row, y.row}, most, scale);
      for (std::int64_t r = 0; r < at.queries; ++r) rows[at.row + r] = {most[r], scale[r]};
    }
  });
}

template <class T>
void attention_backward(const Attention& a, HeadRows<const T> q, HeadRows<const T> k,
                        HeadRows<const T> v, HeadRows<const T> y, HeadRows<const T> g,
                        const AttentionRow* rows, HeadRows<T> dq, HeadRows<T> dk, HeadRows<T> dv) {
  const VectorKernels<T>& kernels = vector_kernels<T>();
  // The tiles of the heads that share keys come one after another.
  const std::int64_t group = a.heads / a.kv_heads, tiles = group * tiles_of(a);
  const std::int64_t width = Room(a, kernels).width, value_width = Room(a, kernels).value_width;
  const T slope = static_cast<T>(a.scale);
  const std::int64_t count = a.batch * a.kv_heads;
  const std::int64_t grain =
      gemm_grain(count, a.queries * group, a.keys, 3 * a.width + 2 * a.value_width);
  // A chunk has all the queries that a head of keys serves, so that their sums have one order.
  parallel_for(count, grain, [&](std::int64_t begin, std::int64_t end) {
    const Buffer<T> room(Room(a, kernels).elements);
    const Buffer<T> k_sums(a.keys * width), v_sums(a.keys * value_width);
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t b = i / a.kv_heads, kv = i % a.kv_heads;
      std::fill_n(k_sums.data(), a.keys * width, T(0));
      std::fill_n(v_sums.data(), a.keys * value_width, T(0));
      for (std::int64_t t = i * tiles; t < (i + 1) * tiles; ++t) {
        const Place at(a, t);
        const Cells cells{a, at.queries, at.row * a.keys};
        T most[kTileQueries] = {}, scale[kTileQueries] = {};
        for (std::int64_t r = 0; r < at.queries; ++r) {
          most[r] = static_cast<T>(rows[at.row + r].most);
          scale[r] = static_cast<T>(rows[at.row + r].scale);
        }
        AttentionTile<T> tile = tile_at(a, at, cells, q, k, v, room.data());
        if (t + 1 < count * tiles) look_ahead(tile, a, Place(a, t + 1), k, v, {q, y, g});
        kernels.attend_backward({.tile = tile,
                                 .y = {y.at(b, at.h) + at.first * y.row, y.row},
                                 .g = {g.at(b, at.h) + at.first * g.row, g.row},
                                 .most = most,
                                 .scale = scale,
                                 .slope = slope,
                                 .dq = {dq.at(b, at.h) + at.first * dq.row, dq.row},
                                 .dk = {k_sums.data(), width},
                                 .dv = {v_sums.data(), value_width}});
      }
      for (std::int64_t j = 0; j < a.keys; ++j) {
        for (std::int64_t d = 0; d < a.width; ++d)
          dk.at(b, kv)[j * dk.row + d] = k_sums.data()[j * width + d] * slope;
        std::copy_n(v_sums.data() + j * value_width, a.value_width, dv.at(b, kv) + j * dv.row);
      }
    }
  });
}

template void attention_forward(const Attention&, HeadRows<const float>, HeadRows<const float>,
                                HeadRows<const float>, HeadRows<float>, AttentionRow*);
template void attention_forward(const Attention&, HeadRows<const double>, HeadRows<const double>,
                                HeadRows<const double>, HeadRows<double>, AttentionRow*);
template void attention_backward(const Attention&, HeadRows<const float>, HeadRows<const float>,
                                 HeadRows<const float>, HeadRows<const float>,
                                 HeadRows<const float>, const AttentionRow*, HeadRows<float>,
                                 HeadRows<float>, HeadRows<float>);
template void attention_backward(const Attention&, HeadRows<const double>, HeadRows<const double>,
                                 HeadRows<const double>, HeadRows<const double>,
                                 HeadRows<const double>, const AttentionRow*, HeadRows<double>,
                                 HeadRows<double>, HeadRows<double>);

}  // namespace heed::kernels
