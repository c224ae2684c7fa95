#include <Random123/philox.h>
#include <heed/autograd/error.h>
#include <heed/autograd/rng.h>

#include <bit>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

// Note [The same bits everywhere]
// What becomes of a draw is computed with + - * / and sqrt alone, each of which IEEE 754 rounds in
// one way, and this file is compiled with -ffp-contract=off: a fused multiply-add rounds once where
// two operations round twice. The logarithm of libm differs between systems, so it is made here.

namespace heed {
namespace {

// The upper half of Philox's counter keeps what is derived from a key for different ends apart.
enum class Purpose : std::uint64_t { draws = 0, stream = 1 };

std::array<std::uint64_t, 2> philox(std::uint64_t key, std::uint64_t counter, Purpose purpose) {
  const auto low = [](std::uint64_t word) { return static_cast<std::uint32_t>(word); };
  const auto high = [](std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); };
  const auto domain = static_cast<std::uint64_t>(purpose);
  const r123::Philox4x32::ctr_type from{{low(counter), high(counter), low(domain), high(domain)}};
  const r123::Philox4x32::key_type with{{low(key), high(key)}};
  const r123::Philox4x32::ctr_type out = r123::Philox4x32{}(from, with);
  return {out[0] | std::uint64_t{out[1]} << 32, out[2] | std::uint64_t{out[3]} << 32};
}

// FNV-1a (Fowler, Noll and Vo).
std::uint64_t hash(std::string_view name) {
  std::uint64_t value = 0xcbf29ce484222325;
  for (const char c : name) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return value;
}

// ln x for a positive normal x. x = 2^e m with m in [sqrt(1/2), sqrt(2)), and
// ln m = 2 artanh(s) = 2 (s + s^3/3 + s^5/5 + ...) at s = (m - 1) / (m + 1), where |s| < 0.172.
double natural_log(double x) {
  constexpr int kTerms = 11;  // the first one left out is below 2^-60 of the sum
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
  int exponent = static_cast<int>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0x000fffffffffffff) | 0x3ff0000000000000);
  if (m > std::numbers::sqrt2) {
    m /= 2;
    ++exponent;
  }
  const double s = (m - 1) / (m + 1), square = s * s;
  double series = 0;
  for (int k = kTerms - 1; k >= 0; --k) series = series * square + 1.0 / (2 * k + 1);
  return exponent * std::numbers::ln2 + 2 * s * series;
}

// Coefficients, that of x^0 first.
using Polynomial = std::array<double, 8>;

double evaluate(const Polynomial& p, double x) {
  double y = p.back();
  for (std::size_t i = p.size() - 1; i-- > 0;) y = y * x + p[i];
  return y;
}

struct Ratio {
  Polynomial numerator, denominator;

  double operator()(double x) const { return evaluate(numerator, x) / evaluate(denominator, x); }
};

// Wichura, "Algorithm AS 241: the percentage points of the normal distribution", Applied
// Statistics 37 (1988), PPND16: three rational functions, each right to about 16 digits.
constexpr Ratio kCentral = {
    {3.3871328727963666080, 1.3314166789178437745e2, 1.9715909503065514427e3,
     1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
     3.3430575583588128105e4, 2.5090809287301226727e3},
    {1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
     2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4,
     5.2264952788528545610e3}};
constexpr Ratio kTail = {
    {1.42343711074968357734, 4.63033784615654529590, 5.76949722146069140550, 3.64784832476320460504,
     1.27045825245236838258, 2.41780725177450611770e-1, 2.27238449892691845833e-2,
     7.74545014278341407640e-4},
    {1.0, 2.05319162663775882187, 1.67638483018380384940, 6.89767334985100004550e-1,
     1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
     1.05075007164441684324e-9}};
constexpr Ratio kFarTail = {
    {6.65790464350110377720, 5.46378491116411436990, 1.78482653991729133580,
     2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
     2.71155556874348757815e-5, 2.01033439929228813265e-7},
    {1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
     7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
     2.04426310338993978564e-15}};

// The z below which a standard normal lies with probability p, 0 < p < 1.
double normal_quantile(double p) {
  const double q = p - 0.5;
  if (-0.425 <= q && q <= 0.425) return q * kCentral(0.180625 - q * q);
  const double r = std::sqrt(-natural_log(q < 0 ? p : 1 - p));
  const double z = r <= 5 ? kTail(r - 1.6) : kFarTail(r - 5);
  return q < 0 ? -z : z;
}

}  // namespace

std::uint64_t random_bits(RngState state) {
  return philox(state.key, state.position / 2, Purpose::draws)[state.position % 2];
}

double uniform_from_bits(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

// The middles of 2^52 equal parts of (0, 1), so that neither 0 nor 1 is met.
double normal_from_bits(std::uint64_t bits) {
  return normal_quantile((static_cast<double>(bits >> 12) + 0.5) * 0x1p-52);
}

void Rng::set_state(RngState state) {
  state_ = state;
  if (state.position % 2 == 1) block_ = philox(state.key, state.position / 2, Purpose::draws);
}

Rng Rng::stream(std::string_view name) const {
  return Rng(philox(state_.key, hash(name), Purpose::stream)[0]);
}

RngState Rng::reserve(std::uint64_t draws) {
  const RngState before = state_;
  set_state({before.key, before.position + draws});
  return before;
}

std::uint64_t Rng::bits() {
  if (state_.position % 2 == 0) block_ = philox(state_.key, state_.position / 2, Purpose::draws);
  return block_[state_.position++ % 2];
}

double Rng::uniform() { return uniform_from_bits(bits()); }

double Rng::normal() { return normal_from_bits(bits()); }

std::int64_t Rng::integer(std::int64_t n) {
  if (n < 1) throw ValueError(text("integer: [0, ", n, ") is empty; n must be at least 1"));
  const auto range = static_cast<std::uint64_t>(n);
  const std::uint64_t surplus = (0 - range) % range;  // 2^64 mod n: this many words are too many
  std::uint64_t word = bits();
  while (word < surplus) word = bits();
  return static_cast<std::int64_t>(word % range);
}

std::vector<std::int64_t> Rng::permutation(std::int64_t n) {
  if (n < 0) throw ValueError(text("permutation: of ", n, " elements; n must be at least 0"));
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[static_cast<std::size_t>(integer(static_cast<std::int64_t>(i)))]);
  return order;
}

}  // namespace heed
