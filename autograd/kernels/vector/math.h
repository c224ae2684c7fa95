#pragma once

#include <heed/autograd/kernels/vector/exp2.h>
#include <heed/autograd/kernels/vector/lanes.h>

// Elementary functions of vectors, without branches. Polynomials are least-squares fits at
// Chebyshev nodes. tests/autograd/vector_math_test.cpp holds each to its bound.

namespace heed::kernels {
namespace {

/// What `exp` needs of a type: x = n ln 2 + r, exp(x) = 2^n (1 + r + r² P(r)).
template <class T>
struct ExpOf;

template <>
struct ExpOf<float> {
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
  const auto whole =
      __builtin_bit_cast(Lanes<T>, n + C::kRound) - __builtin_bit_cast(Integer<T>, C::kRound);
  const auto half = whole >> 1;
  return p * __builtin_bit_cast(Vector<T>, (half + C::kBias) << C::kFraction) *
         __builtin_bit_cast(Vector<T>, (whole - half + C::kBias) << C::kFraction);
#endif
}

/// Relative error 1e-7 in f32 and 2e-16 in f64 where the result is normal; gradual underflow,
/// infinite above 88.73 and 709.78.
template <class T>
inline Vector<T> exp(Vector<T> x) {
  using C = ExpOf<T>;
  const Vector<T> limited = greater<T>(C::kLeast, lesser<T>(C::kMost, x));
  const Vector<T> n = (limited * C::kPerLog2 + C::kRound) - C::kRound;
  const Vector<T> r = (limited - n * C::kLog2High) - n * C::kLog2Low;
  return scaled<T>(polynomial<T>(C::kP, r) * (r * r) + r + 1, n);
}

template <class T, class F>
inline Vector<T> each_lane(Vector<T> x, F f) {
  for (int i = 0; i < kWidth<T>; ++i) x[i] = f(x[i]);
  return x;
}

template <class T>
constexpr Integer<T> kSign = Integer<T>(1) << (8 * sizeof(T) - 1);
template <class T>
inline Vector<T> abs(Vector<T> x) {
  return __builtin_bit_cast(Vector<T>, __builtin_bit_cast(Lanes<T>, x) & ~kSign<T>);
}
template <class T>
inline Vector<T> with_sign_of(Vector<T> x, Vector<T> sign) {
  return __builtin_bit_cast(Vector<T>, __builtin_bit_cast(Lanes<T>, abs<T>(x)) |
                                           (__builtin_bit_cast(Lanes<T>, sign) & kSign<T>));
}

/// Relative error 3e-7 in f32.
template <class T>
inline Vector<T> tanh(Vector<T> x) {
  if constexpr (kSingle<T>) {
    constexpr T kNear[] = {-6.10434767e-3f, 2.10031135e-2f, -5.38523428e-2f, 1.33327806e-1f,
                           -3.33333291e-1f};
    const Vector<T> a = abs<T>(x), s = x * x;
    const Vector<T> far = 1 - 2 / (exp<T>(2 * a) + 1);
    return with_sign_of<T>(a < 0.625f ? a + a * s * polynomial<T>(kNear, s) : far, x);
  } else {
    return each_lane<T>(x, [](T v) { return __builtin_tanh(v); });
  }
}

/// 1 / (1 + exp(-x)).
template <class T>
inline Vector<T> sigmoid(Vector<T> x) {
  return 1 / (1 + exp<T>(-x));
}

/// |x|, and no more than where exp(-x²/2) is 0.
template <class T>
inline Vector<T> distance_from_0(Vector<T> x) {
  return lesser<T>(40, abs<T>(x));
}

/// exp(-a²/2) for such an a, 0 where it is not a normal number.
template <class T>
inline Vector<T> bell(Vector<T> a) {
  return exp2<T>(a * a * T(-0.72134752044448170));
}

/// Φ(-a) for such an a; in f32 exp(-a²/2) times a polynomial in 1 / (1 + 0.29 a).
template <class T>
inline Vector<T> normal_tail(Vector<T> a) {
  if constexpr (kSingle<T>) {
    constexpr T kOverBell[] = {0.0390600003f, -0.192004189f, 0.305536896f,
                               -0.152023211f, 0.187469393f,  0.0754572153f,
                               0.121379681f,  0.115097426f,  2.67992818e-05f};
    return bell<T>(a) * polynomial<T>(kOverBell, 1 / (1 + 0.29f * a));
  } else {
    constexpr T kPerRoot2 = 0.70710678118654752;
    return each_lane<T>(a, [](T v) { return T(0.5) * __builtin_erfc(v * kPerRoot2); });
  }
}

/// Φ(x), the normal distribution: relative error 6e-6 in f32 on [-10, 10], 6e-7 on [-1, 1].
template <class T>
inline Vector<T> normal_cdf(Vector<T> x) {
  const Vector<T> tail = normal_tail<T>(distance_from_0<T>(x));
  return x < 0 ? tail : 1 - tail;
}

/// Relative error 6e-7 in f32.
template <class T>
inline Vector<T> erf(Vector<T> x) {
  if constexpr (kSingle<T>) {
    constexpr T kSeries[] = {-1.f / 1320, 1.f / 216, -1.f / 42, 0.1f, -1.f / 3, 1};
    const Vector<T> near = x * 1.12837917f * polynomial<T>(kSeries, x * x);
    const Vector<T> far = 2 * normal_cdf<T>(1.41421356f * x) - 1;
    return abs<T>(x) < 0.5f ? near : far;
  } else {
    return each_lane<T>(x, [](T v) { return __builtin_erf(v); });
  }
}

/// x Φ(x), as max(x, 0) - |x| Φ(-|x|), with the error of Φ(x).
template <class T>
inline Vector<T> gelu(Vector<T> x) {
  const Vector<T> a = distance_from_0<T>(x);
  return greater<T>(0, x) - a * normal_tail<T>(a);
}
/// Φ(x) + x φ(x), from that of -|x|. Its two terms cancel around its zero at -0.75179...: in f32 it
/// is exp(-x²/2) times the distance to the zero times a polynomial in 1 / (1 + 0.28 |x|), with the
/// same error.
template <class T>
inline Vector<T> gelu_slope(Vector<T> x) {
  const Vector<T> a = distance_from_0<T>(x);
  Vector<T> below;
  if constexpr (kSingle<T>) {
    constexpr T kRest[] = {0.0265243072f,  -0.0778042227f, 0.0089470055f, -0.0737503171f,
                           -0.0654679909f, -0.0846183524f, -0.398908347f};
    const Vector<T> distance = (a - 0.751791537f) + 1.21144494e-8f;
    below = bell<T>(a) * distance * polynomial<T>(kRest, 1 / (1 + 0.28f * a));
  } else {
    below = normal_tail<T>(a) - a * T(0.3989422804014327) * bell<T>(a);
  }
  return x < 0 ? below : 1 - below;
}

/// `f` of f64 vectors; an f32 vector goes through it in two halves.
template <class T, class F>
inline Vector<T> in_double(Vector<T> x, F f) {
  if constexpr (kSingle<T>)
    return join(narrow(f(widen(lower_half(x)))), narrow(f(widen(upper_half(x)))));
  else
    return f(x);
}

/// x sigmoid(2u), u = √(2/π) (x + 0.044715 x³): the same as x/2 (1 + tanh u) without its
/// cancellation. In f64, since exp(-2u) multiplies the rounding of u by 87, at -10.
struct GeluTanh {
  static constexpr double kScale = 1.5957691216057308;  // 2 √(2/π)
  static constexpr double kCubic = 0.044715;
  static constexpr double kFlat = 100;  // beyond, the gate is 0 or 1, and x³ may overflow

  static Vector<double> gate(Vector<double> x) {
    return sigmoid<double>(kScale * (x + kCubic * x * x * x));
  }
  static Vector<double> value(Vector<double> x) { return x * gate(x); }
  static Vector<double> slope(Vector<double> x) {
    const Vector<double> flat = Vector<double>{} + kFlat;
    const Vector<double> above = x < -kFlat ? -flat : x, v = above > kFlat ? flat : above;
    const Vector<double> s = gate(v);
    return s + v * s * (1 - s) * (kScale * (1 + 3 * kCubic * v * v));
  }
};
template <class T>
inline Vector<T> gelu_tanh(Vector<T> x) {
  return in_double<T>(x, [](Vector<double> v) { return GeluTanh::value(v); });
}
template <class T>
inline Vector<T> gelu_tanh_slope(Vector<T> x) {
  return in_double<T>(x, [](Vector<double> v) { return GeluTanh::slope(v); });
}

/// x sigmoid(x).
template <class T>
inline Vector<T> silu(Vector<T> x) {
  return x * sigmoid<T>(x);
}
template <class T>
inline Vector<T> silu_slope(Vector<T> x) {
  const Vector<T> s = sigmoid<T>(x);
  return s * (1 + x * (1 - s));
}

}  // namespace
}  // namespace heed::kernels
