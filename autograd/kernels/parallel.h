#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>

// Note [Chunks]
// Work on [0, count) is cut into chunks of `grain`, the last one shorter. Where the cuts lie
// depends on the problem alone and the chunks are the same on one thread, so no bit depends on the
// number of threads or on who ran what. A sum across chunks is made of partial sums that are added
// in order afterwards, or avoided by cutting across columns.
//
// A chunk works on raw arrays. It runs on any thread, so it sees none of its caller's thread-local
// state (modes, caches) and makes no tensor; nor does it call what a user has written, which need
// not stand being called from several threads.

namespace heed::kernels {

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

using Chunk = void (*)(void* context, std::int64_t begin, std::int64_t end);

/// `parallel_for` for more than one chunk.
void run_chunks(std::int64_t count, std::int64_t grain, Chunk chunk, void* context);

/// Calls `f(begin, end)` for every chunk of [0, count), on the pool's threads and the caller's, and
/// returns when all is done. Runs on the caller alone if there is but one chunk, if `threads()` is
/// 1, within another chunk, and while the pool works for another thread. An exception in a chunk
/// reaches the caller; other chunks may then not have run.
template <class F>
void parallel_for(std::int64_t count, std::int64_t grain, F&& f) {
  if (count <= 0) return;
  using Function = std::remove_reference_t<F>;
  // Not inlined for the one chunk, so that f is compiled once.
  const Chunk chunk =
      [](void* context, std::int64_t begin, std::int64_t end) __attribute__((noinline)) {
    (*static_cast<Function*>(context))(begin, end);
  };
  void* context = const_cast<void*>(static_cast<const void*>(std::addressof(f)));
  if (count <= grain) return chunk(context, 0, count);
  run_chunks(count, grain, chunk, context);
}

/// Elements of a chunk: enough that a step too short to gain (a model of 32 channels) loses
/// nothing.
inline constexpr std::int64_t kChunkElements = 1 << 15;

/// The grain for `count` items of `elements` elements each: chunks that are worth their while, and
/// not many more than keep every thread busy to the end.
constexpr std::int64_t grain_of(std::int64_t count, std::int64_t elements = 1) {
  constexpr std::int64_t kMostChunks = 64;
  const std::int64_t worth = (kChunkElements - 1) / std::max<std::int64_t>(elements, 1) + 1;
  return std::max(worth, (count - 1) / kMostChunks + 1);
}

/// Calls `f(i)` for i < count, in chunks, where each takes `elements` elements.
template <class F>
void for_each(std::int64_t count, std::int64_t elements, F f) {
  parallel_for(count, grain_of(count, elements), [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) f(i);
  });
}

/// The grain for columns of `rows` elements each that lie side by side: whole cache lines.
constexpr std::int64_t column_grain(std::int64_t columns, std::int64_t rows) {
  constexpr std::int64_t kColumns = 64;
  return (grain_of(columns, rows) - 1) / kColumns * kColumns + kColumns;
}

}  // namespace heed::kernels
