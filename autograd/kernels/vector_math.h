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

/// 1 - erf(|x|), relative error 2e-11: t exp(-x² + P(t)) with t = 1 / (1 + |x| / 2).
inline double erfc_of_magnitude(double x) {
  const double z = std::fabs(x);
  const double t = 1. / (1. + 0.5 * z);
  const double u = (2. * t - 13. / 11.) * (11. / 9.);
  double p = -5.753767677232114e-07;
  p = p * u - 4.938012710380108e-07;
  p = p * u + 6.105834060249978e-06;
  p = p * u - 1.3375530534236755e-06;
  p = p * u - 3.5222779796828864e-05;
  p = p * u + 4.9544218903606835e-05;
  p = p * u + 0.0001379829231490418;
  p = p * u - 0.00046061269989071976;
  p = p * u - 0.00031699516140702656;
  p = p * u + 0.003355518499254492;
  p = p * u - 0.0006572531750662777;
  p = p * u - 0.02795306889084071;
  p = p * u + 0.013626166600424434;
  p = p * u + 0.5604713438583939;
  p = p * u - 0.5482211025109694;
  return t * exp(p - z * z);
}

inline float sigmoid(float x) { return 1.f / (1.f + exp(-x)); }
inline double sigmoid(double x) { return 1. / (1. + std::exp(-x)); }
inline float erf(float x) {
  const double tail = erfc_of_magnitude(x);
  const float direct = static_cast<float>(std::copysign(1. - tail, static_cast<double>(x)));
  const float s = x * x;  // series where 1 - tail cancels
  const float near =
      x * 1.12837917f *
      (1.f + s * (-1.f / 3 + s * (0.1f + s * (-1.f / 42 + s * (1.f / 216 - s / 1320)))));
  return std::fabs(x) < 0.5f ? near : direct;
}

/// The normal distribution's Φ(x), relative error 3e-11.
inline double normal_cdf(double x) {
  const double tail = 0.5 * erfc_of_magnitude(x * 0.70710678118654752);
  return x < 0 ? tail : 1. - tail;
}
/// Its density φ(x).
inline double normal_density(double x) { return 0.3989422804014327 * exp(-0.5 * x * x); }

}  // namespace heed::kernels
