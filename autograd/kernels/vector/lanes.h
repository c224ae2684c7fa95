#pragma once

#include <heed/autograd/kernels/vector/vector.h>

// Arrays that do not end with a full vector, and what crosses the lanes of one. Kernels say once
// what they do to a vector, as `f(i, lanes)`: a loop over full vectors, whose lanes are known when
// it is compiled, is followed by one call for the rest.

namespace heed::kernels {
namespace {

/// Every lane of a vector, or the first so many.
struct All {};
struct First {
  int count;
};

/// Calls `f(i, lanes)` for i = 0, kWidth, 2 kWidth, ... < n.
template <class T, class F>
inline void for_each_vector(std::int64_t n, F f) {
  std::int64_t i = 0;
  for (; i + kWidth<T> <= n; i += kWidth<T>) f(i, All{});
  if (i < n) f(i, First{static_cast<int>(n - i)});
}

/// start + f(0, lanes) + f(kWidth, lanes) + ..., where + is `plus`, in four vectors that do not
/// wait for each other.
template <class T, class V, class Plus, class F>
inline V reduce(std::int64_t n, V start, Plus plus, F f) {
  constexpr int kWays = 4;
  V part[kWays] = {start, start, start, start};
  std::int64_t i = 0;
  for (; i + kWays * kWidth<T> <= n; i += kWays * kWidth<T>)
#pragma GCC unroll 4
    for (int way = 0; way < kWays; ++way)
      part[way] = plus(part[way], f(i + way * kWidth<T>, All{}));
  for (; i + kWidth<T> <= n; i += kWidth<T>) part[0] = plus(part[0], f(i, All{}));
  if (i < n) part[1] = plus(part[1], f(i, First{static_cast<int>(n - i)}));
  return plus(plus(part[0], part[1]), plus(part[2], part[3]));
}

/// Signed integers as wide as T: what a comparison of vectors of T has for lanes.
template <int Bytes>
struct IntegerOf;
template <>
struct IntegerOf<4> {
  using Type = std::int32_t;
};
template <>
struct IntegerOf<8> {
  using Type = std::int64_t;
};
template <class T>
using Integer = typename IntegerOf<sizeof(T)>::Type;
template <class T>
using Lanes = Vector<Integer<T>>;
template <class T>
constexpr bool kSingle = sizeof(T) == sizeof(float);

template <class T>
inline Vector<T> load(const T* from, All) {
  return load(from);
}
/// The other lanes are 0.
template <class T>
inline Vector<T> load(const T* from, First lanes) {
#if defined(__AVX512F__)
  const auto mask = (1u << lanes.count) - 1;
  if constexpr (kSingle<T>)
    return __builtin_ia32_loadups512_mask(from, Vector<T>{}, static_cast<unsigned short>(mask));
  else
    return __builtin_ia32_loadupd512_mask(from, Vector<T>{}, static_cast<unsigned char>(mask));
#else
  T room[kWidth<T>] = {};
  for (int i = 0; i < lanes.count; ++i) room[i] = from[i];
  return load(room);
#endif
}
/// Asks for what a loop over rows will read, or write, in a while: it stops at the end of every
/// row, and the CPU's own guesses come too late.
constexpr int kAheadBytes = 4096;
template <class T>
inline void fetch_ahead(const T* from) {
  __builtin_prefetch(reinterpret_cast<const char*>(from) + kAheadBytes);
}
template <class T>
inline void fetch_ahead_to_write(const T* to) {
  __builtin_prefetch(reinterpret_cast<const char*>(to) + kAheadBytes, 1);
}

template <class T>
inline void store(T* to, Vector<T> v, All) {
  store(to, v);
}
template <class T>
inline void store(T* to, Vector<T> v, First lanes) {
#if defined(__AVX512F__)
  const auto mask = (1u << lanes.count) - 1;
  if constexpr (kSingle<T>)
    __builtin_ia32_storeups512_mask(to, v, static_cast<unsigned short>(mask));
  else
    __builtin_ia32_storeupd512_mask(to, v, static_cast<unsigned char>(mask));
#else
  T room[kWidth<T>];
  store(room, v);
  for (int i = 0; i < lanes.count; ++i) to[i] = room[i];
#endif
}

/// v, with `other` in the lanes outside.
template <class T>
inline Vector<T> keep(Vector<T> v, T, All) {
  return v;
}
template <class T>
inline Vector<T> keep(Vector<T> v, T other, First lanes) {
  Lanes<T> index{};
#pragma GCC unroll 16
  for (int i = 0; i < kWidth<T>; ++i) index[i] = i;
  return index < Integer<T>(lanes.count) ? v : Vector<T>{} + other;
}

template <class V>
constexpr int kLanes = sizeof(V) / sizeof(V{}[0]);

template <class V>
inline auto lower_half(V v) {
  if constexpr (kLanes<V> == 16) return __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7);
  if constexpr (kLanes<V> == 8) return __builtin_shufflevector(v, v, 0, 1, 2, 3);
  if constexpr (kLanes<V> == 4) return __builtin_shufflevector(v, v, 0, 1);
}
template <class V>
inline auto upper_half(V v) {
  if constexpr (kLanes<V> == 16) return __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15);
  if constexpr (kLanes<V> == 8) return __builtin_shufflevector(v, v, 4, 5, 6, 7);
  if constexpr (kLanes<V> == 4) return __builtin_shufflevector(v, v, 2, 3);
}
template <class V>
inline auto join(V lower, V upper) {
  if constexpr (kLanes<V> == 8)
    return __builtin_shufflevector(lower, upper, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
                                   15);
  if constexpr (kLanes<V> == 4)
    return __builtin_shufflevector(lower, upper, 0, 1, 2, 3, 4, 5, 6, 7);
  if constexpr (kLanes<V> == 2) return __builtin_shufflevector(lower, upper, 0, 1, 2, 3);
}

/// The lanes taken together as a tree: first both halves, and so on.
template <class V, class Plus>
inline auto fold(V v, Plus plus) {
  if constexpr (kLanes<V> == 2)
    return plus(v[0], v[1]);
  else
    return fold(plus(lower_half(v), upper_half(v)), plus);
}

/// Half of a vector of f32 as f64, and the way back.
typedef float HalfVector __attribute__((vector_size(kVectorBytes / 2)));
inline Vector<double> widen(HalfVector v) {
#if defined(__clang__) || !defined(__AVX2__)
  return __builtin_convertvector(v, Vector<double>);
#elif defined(__AVX512F__)  // GCC 12 would convert the halves
  return __builtin_ia32_cvtps2pd512_mask(v, Vector<double>{}, static_cast<unsigned char>(-1), 4);
#else
  return __builtin_ia32_cvtps2pd256(v);
#endif
}
inline HalfVector narrow(Vector<double> v) { return __builtin_convertvector(v, HalfVector); }

/// The sum of f(part) over the parts of v in f64.
template <class T, class F>
inline Vector<double> in_parts(Vector<T> v, F f) {
  if constexpr (kSingle<T>)
    return f(widen(lower_half(v))) + f(widen(upper_half(v)));
  else
    return f(v);
}

}  // namespace
}  // namespace heed::kernels
