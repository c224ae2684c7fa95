#pragma once

#include <heed/autograd/kernels/vector/vector.h>

// Elementary functions of vectors, without branches. Polynomials are least-squares fits at
// Chebyshev nodes. tests/autograd/vector_math_test.cpp holds each to its bound.

namespace heed::kernels {
namespace {

/// What `exp` needs of a type: x = n ln 2 + r, exp(x) = 2^n (1 + r + r² P(r)).
template <class T>
struct ExpOf;

template <>
struct ExpOf<float> {
  using Integer = std::int32_t;
  static constexpr float kLeast = -104, kMost = 89;
  static constexpr float kPerLog2 = 1.44269504f, kLog2High = 0.693145752f,
                         kLog2Low = 1.42860677e-6f;
  static constexpr float kRound = 0x1.8p23f;  // adding it rounds, the integer is in the low bits
  static constexpr int kFraction = 23, kBias = 127;
  static constexpr float kP[] = {1.39336435e-3f, 8.36317557e-3f, 4.16664650e-2f, 1.66665770e-1f,
                                 0.5f};
};

template <>
struct ExpOf<double> {
  using Integer = std::int64_t;
  static constexpr double kLeast = -746, kMost = 710;
  static constexpr double kPerLog2 = 1.4426950408889634, kLog2High = 0x1.62e42fefa0000p-1,
                          kLog2Low = 0x1.cf79abc9e3b39p-40;
  static constexpr double kRound = 0x1.8p52;
  static constexpr int kFraction = 52, kBias = 1023;
  static constexpr double kP[] = {
      2.500006162553128e-08,  2.763024838532302e-07, 2.755758637378518e-06, 2.480149309888739e-05,
      0.00019841269506578723, 0.0013888888943630134, 0.008333333333494461,  0.041666666666530155,
      0.16666666666666413,    0.5000000000000011};
};

template <class T>
using IntegerVector = Vector<typename ExpOf<T>::Integer>;

/// ((c[0] x + c[1]) x + ...) x + c[N - 1].
template <class T, int N>
inline Vector<T> polynomial(const T (&c)[N], Vector<T> x) {
  Vector<T> p = Vector<T>{} + c[0];
#pragma GCC unroll 16
  for (int i = 1; i < N; ++i) p = p * x + c[i];
  return p;
}

/// p 2^n, where n is an integer and p of the size of 1.
template <class T>
inline Vector<T> scaled(Vector<T> p, Vector<T> n) {
#if defined(__AVX512F__)
  constexpr int kRoundAsEver = 4;
  if constexpr (sizeof(T) == 4)
    return __builtin_ia32_scalefps512_mask(p, n, p, static_cast<unsigned short>(-1), kRoundAsEver);
  else
    return __builtin_ia32_scalefpd512_mask(p, n, p, static_cast<unsigned char>(-1), kRoundAsEver);
#else
  // In two factors: each is normal, the product need not be.
  using C = ExpOf<T>;
  const auto whole = __builtin_bit_cast(IntegerVector<T>, n + C::kRound) -
                     __builtin_bit_cast(typename C::Integer, C::kRound);
  const auto half = whole >> 1;
  return p * __builtin_bit_cast(Vector<T>, (half + C::kBias) << C::kFraction) *
         __builtin_bit_cast(Vector<T>, (whole - half + C::kBias) << C::kFraction);
#endif
}

/// Relative error 1.2e-7 in f32 and 4e-16 in f64 where the result is normal; gradual underflow,
/// infinite above 88.73 and 709.78.
template <class T>
inline Vector<T> exp(Vector<T> x) {
  using C = ExpOf<T>;
  const Vector<T> least = Vector<T>{} + C::kLeast, most = Vector<T>{} + C::kMost;
  const Vector<T> at_most = most < x ? most : x;
  const Vector<T> limited = least > at_most ? least : at_most;
  const Vector<T> n = (limited * C::kPerLog2 + C::kRound) - C::kRound;
  const Vector<T> r = (limited - n * C::kLog2High) - n * C::kLog2Low;
  return scaled<T>(polynomial<T>(C::kP, r) * (r * r) + r + 1, n);
}

}  // namespace
}  // namespace heed::kernels
