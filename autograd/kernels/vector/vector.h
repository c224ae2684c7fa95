#pragma once

#include <cstdint>

// Vectors of the widest kind that the file including this may use. See Note [Kernels for every
// instruction set].

namespace heed::kernels {
namespace {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64, kRegisters = 32;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32, kRegisters = 16;
#else
constexpr int kVectorBytes = 16, kRegisters = 16;
#endif

template <class T>
constexpr int kWidth = kVectorBytes / static_cast<int>(sizeof(T));

template <class T>
struct VectorOf {
  typedef T Type __attribute__((vector_size(kVectorBytes)));
  typedef T Anywhere __attribute__((vector_size(kVectorBytes), aligned(alignof(T)), may_alias));
};
template <class T>
using Vector = typename VectorOf<T>::Type;

template <class T>
inline Vector<T> load(const T* from) {
  return *reinterpret_cast<const typename VectorOf<T>::Anywhere*>(from);
}
template <class T>
inline void store(T* to, Vector<T> v) {
  *reinterpret_cast<typename VectorOf<T>::Anywhere*>(to) = v;
}
template <class T>
inline void copy(const T* from, std::int64_t n, T* to) {
  std::int64_t i = 0;
  for (; i + kWidth<T> <= n; i += kWidth<T>) store(to + i, load(from + i));
  for (; i < n; ++i) to[i] = from[i];
}

/// The lesser and the greater of each two lanes, y's where one is a NaN or both are 0. GCC 12 never
/// makes one instruction of the comparison for AVX-512.
template <class T>
inline Vector<T> lesser(Vector<T> x, Vector<T> y) {
#if defined(__AVX512F__) && !defined(__clang__)
  constexpr int kRoundAsEver = 4;
  if constexpr (sizeof(T) == 4)
    return __builtin_ia32_minps512_mask(x, y, x, static_cast<unsigned short>(-1), kRoundAsEver);
  else
    return __builtin_ia32_minpd512_mask(x, y, x, static_cast<unsigned char>(-1), kRoundAsEver);
#else
  return x < y ? x : y;
#endif
}
template <class T>
inline Vector<T> greater(Vector<T> x, Vector<T> y) {
#if defined(__AVX512F__) && !defined(__clang__)
  constexpr int kRoundAsEver = 4;
  if constexpr (sizeof(T) == 4)
    return __builtin_ia32_maxps512_mask(x, y, x, static_cast<unsigned short>(-1), kRoundAsEver);
  else
    return __builtin_ia32_maxpd512_mask(x, y, x, static_cast<unsigned char>(-1), kRoundAsEver);
#else
  return x > y ? x : y;
#endif
}
template <class T>
inline Vector<T> lesser(T x, Vector<T> y) {
  return lesser<T>(Vector<T>{} + x, y);
}
template <class T>
inline Vector<T> greater(T x, Vector<T> y) {
  return greater<T>(Vector<T>{} + x, y);
}

}  // namespace
}  // namespace heed::kernels
