#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

/// Elementary functions without branches or calls, so that the compiler turns a loop over them into
/// vector instructions. Polynomials are least-squares fits at Chebyshev nodes. Doubles in user's
/// tensors go through <cmath>; `exp(double)` here serves f32 kernels that compute in double.
namespace heed::kernels {

/// Relative error 1.2e-7 where the result is normal; gradual underflow, infinite above 88.73.
inline float exp(float x) {
  constexpr float round = 0x1.8p23f;  // adding it rounds to an integer, found in the low bits
  const float limited = x > 89.f ? 89.f : (x < -104.f ? -104.f : x);
  const float shifted = limited * 1.44269504f + round;
  const float n = shifted - round;
  const float r = (limited - n * 0.693145752f) - n * 1.42860677e-6f;
  float p = 1.39336435e-3f;
  p = p * r + 8.36317557e-3f;
  p = p * r + 4.16664650e-2f;
  p = p * r + 1.66665770e-1f;
  p = p * r + 0.5f;
  p = p * (r * r) + r + 1.f;
  const std::int32_t whole =
      std::bit_cast<std::int32_t>(shifted) - std::bit_cast<std::int32_t>(round);
  const std::int32_t half =
      whole >> 1;  // 2^n in two factors: each is normal, the product need not be
  p *= std::bit_cast<float>((half + 127) << 23);
  return p * std::bit_cast<float>((whole - half + 127) << 23);
}

/// Relative error 4e-16 where the result is normal; gradual underflow, infinite above 709.78.
inline double exp(double x) {
  constexpr double round = 0x1.8p52;
  const double limited = x > 710. ? 710. : (x < -746. ? -746. : x);
  const double shifted = limited * 1.4426950408889634 + round;
  const double n = shifted - round;
  const double r = (limited - n * 0x1.62e42fefa0000p-1) - n * 0x1.cf79abc9e3b39p-40;
  double p = 2.6925502981782366e-08;
  p = p * r + 2.765362503283059e-07;
  p = p * r + 2.755287955542082e-06;
  p = p * r + 2.4801449895528274e-05;
  p = p * r + 0.0001984127332299076;
  p = p * r + 0.0013888888964113547;
  p = p * r + 0.008333333332346402;
  p = p * r + 0.04166666666652685;
  p = p * r + 0.1666666666666736;
  p = p * r + 0.5000000000000057;
  p = p * (r * r) + r + 1.;
  const std::int64_t whole =
      std::bit_cast<std::int64_t>(shifted) - std::bit_cast<std::int64_t>(round);
  const std::int64_t half = whole >> 1;
  p *= std::bit_cast<double>((half + 1023) << 52);
  return p * std::bit_cast<double>((whole - half + 1023) << 52);
}

/// Relative error 3e-7.
inline float tanh(float x) {
  const float a = std::fabs(x);
  const float s = x * x;
  float p = -6.10434767e-3f;
  p = p * s + 2.10031135e-2f;
  p = p * s - 5.38523428e-2f;
  p = p * s + 1.33327806e-1f;
  p = p * s - 3.33333291e-1f;
  const float small = x + x * s * p;
  const float large = std::copysign(1.f - 2.f / (exp(2.f * a) + 1.f), x);
  return a < 0.625f ? small : large;
}

/// The normal distribution at x.
struct Normal {
  float below;    // Φ(x), relative error 4e-6 on [-10, 10] (that of exp at -50), 4e-7 near 0
  float density;  // φ(x)
};
/// Φ(-a) = exp(-a²/2) t P(t) with t = 1 / (1 + 0.3 a).
inline Normal normal(float x) {
  const float e = exp(-0.5f * x * x);
  const float t = 1.f / (1.f + 0.3f * std::fabs(x));
  float p = -0.0208613684f;
  p = p * t + 0.113714800f;
  p = p * t - 0.231184850f;
  p = p * t + 0.195687478f;
  p = p * t - 0.0826098856f;
  p = p * t + 0.0978287499f;
  p = p * t + 0.0778274456f;
  p = p * t + 0.110351936f;
  p = p * t + 0.119558342f;
  p = p * t + 0.119687351f;
  const float tail = e * t * p;
  return {x < 0 ? tail : 1.f - tail, 0.398942280f * e};
}

inline float normal_cdf(float x) { return normal(x).below; }
inline double normal_cdf(double x) { return 0.5 * std::erfc(-x * 0.70710678118654752); }

/// The derivative of x Φ(x), Φ(x) + x φ(x). Around its zero at -0.75179... the two cancel: there it
/// is the distance to the zero times a polynomial in it.
inline float gelu_slope(float x) {
  const Normal at = normal(x);
  const float d = (x + 0.751791537f) - 1.21144494e-8f;
  float p = 4.40710309e-3f;
  p = p * d + 1.90723276e-2f;
  p = p * d - 1.47641264e-2f;
  p = p * d - 1.13992563e-1f;
  p = p * d - 1.81998092e-2f;
  p = p * d + 3.88284807e-1f;
  p = p * d + 4.31493993e-1f;
  return std::fabs(d) < 0.3f ? d * p : at.below + x * at.density;
}
inline double gelu_slope(double x) {
  return normal_cdf(x) + x * std::exp(-0.5 * x * x) * 0.3989422804014327;
}

inline float sigmoid(float x) { return 1.f / (1.f + exp(-x)); }
inline double sigmoid(double x) { return 1. / (1. + std::exp(-x)); }
inline float erf(float x) {
  const float direct = 2.f * normal(1.41421356f * x).below - 1.f;
  const float s = x * x;  // series where that cancels
  const float near =
      x * 1.12837917f *
      (1.f + s * (-1.f / 3 + s * (0.1f + s * (-1.f / 42 + s * (1.f / 216 - s / 1320)))));
  return std::fabs(x) < 0.5f ? near : direct;
}

}  // namespace heed::kernels
