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
}  // namespace
}  // namespace heed::kernels
