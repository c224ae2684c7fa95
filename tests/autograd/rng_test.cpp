#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heed/autograd/error.h>
#include <heed/autograd/rng.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <vector>

namespace heed {
namespace {

using testing::ElementsAre;

template <class Draw>
auto draws(int count, Draw draw) {
  std::vector<decltype(draw())> values;
  for (int i = 0; i < count; ++i) values.push_back(draw());
  return values;
}

// Philox4x32-10 as the paper writes it, section 4.3 and table 2.
using Counter = std::array<std::uint32_t, 4>;
using Key = std::array<std::uint32_t, 2>;
Counter philox(Counter c, Key k) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t first = std::uint64_t{0xD2511F53} * c[0];
    const std::uint64_t second = std::uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<std::uint32_t>(second >> 32) ^ c[1] ^ k[0], static_cast<std::uint32_t>(second),
         static_cast<std::uint32_t>(first >> 32) ^ c[3] ^ k[1], static_cast<std::uint32_t>(first)};
    k = {k[0] + 0x9E3779B9, k[1] + 0xBB67AE85};
  }
  return c;
}

// The three vectors for philox4x32 10 in kat_vectors, which comes with Random123.
TEST(Rng, OracleGivesTheKnownAnswersOfPhilox) {
  constexpr std::uint32_t ones = 0xffffffff;
  EXPECT_THAT(philox({0, 0, 0, 0}, {0, 0}),
              ElementsAre(0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8));
  EXPECT_THAT(philox({ones, ones, ones, ones}, {ones, ones}),
              ElementsAre(0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd));
  EXPECT_THAT(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
              ElementsAre(0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1));
}

TEST(Rng, DrawsAreThoseOfPhilox) {
  for (const std::uint64_t key : {std::uint64_t{0}, std::uint64_t{0x299f31d0a4093822}}) {
    for (const std::uint64_t block : {0ull, 1ull, 0xffffffffull, 0x100000000ull, 1ull << 62}) {
      const Counter out =
          philox({static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), 0, 0},
                 {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)});
      for (const std::uint64_t word : {0u, 1u}) {
        const std::uint64_t expected = out[2 * word] | std::uint64_t{out[2 * word + 1]} << 32;
        EXPECT_EQ(random_bits({key, 2 * block + word}), expected);
        Rng rng(0);
        rng.set_state({key, 2 * block + word});
        EXPECT_EQ(rng.bits(), expected);
      }
    }
  }
}

TEST(Rng, BitsAreTheDrawsInOrder) {
  Rng rng(42);
  for (std::uint64_t position = 0; position < 100; ++position) {
    EXPECT_EQ(rng.state(), (RngState{42, position}));
    EXPECT_EQ(rng.bits(), random_bits({42, position}));
  }
}

// Made by a second implementation in another language.
TEST(Rng, R01GoldenValues) {
  Rng uniform(42);
  EXPECT_THAT(draws(5, [&] { return uniform.uniform(); }),
              ElementsAre(0x1.dfd524ee73abcp-2, 0x1.5d0acf5c4afd4p-2, 0x1.4ee9b3f7f36c8p-2,
                          0x1.d1381bee0e3d6p-2, 0x1.510ebb97a6d80p-1));
  Rng normal(42);
  const double expected[] = {-0.07882346885253179, -0.41011294279565147, -0.4480366278979277,
                             -0.11476523741853367, 0.4078702358053096,   0.7507043067685636,
                             0.4416806772623011,   -0.3077768475777058};
  for (const double value : expected) EXPECT_NEAR(normal.normal(), value, 1e-15);
  Rng integer(42);
  EXPECT_THAT(draws(8, [&] { return integer.integer(1000); }),
              ElementsAre(859, 189, 703, 790, 77, 209, 541, 323));
  EXPECT_THAT(Rng(42).permutation(10), ElementsAre(6, 0, 5, 8, 4, 3, 2, 7, 1, 9));
  EXPECT_EQ(Rng(42).stream("data").state(), (RngState{0x8ddd9947bd3c2f12, 0}));
}

// Every bit of two million normals. Met by GCC and Clang at -O0 and at -O3 -march=native; with
// contraction into fused multiply-adds it is another one.
TEST(Rng, NormalsAreTheSameBitsForEveryCompilerAndFlag) {
  Rng rng(7);
  std::uint64_t digest = 0;
  for (int i = 0; i < 2'000'000; ++i)
    digest = (digest ^ std::bit_cast<std::uint64_t>(rng.normal())) * 0x100000001b3;
  EXPECT_EQ(digest, 0x64bb93e45254ac3b);
}

TEST(Rng, StateIsTakenUpInMidStream) {
  for (const int before : {0, 1, 2, 7}) {
    Rng rng(3);
    draws(before, [&] { return rng.normal(); });
    const RngState state = rng.state();
    const auto expected = draws(5, [&] { return rng.bits(); });
    Rng other(99);
    other.bits();
    other.set_state(state);
    EXPECT_EQ(draws(5, [&] { return other.bits(); }), expected) << "after " << before << " draws";
  }
}

TEST(Rng, ReservedDrawsAreThoseThatWouldHaveCome) {
  for (const std::uint64_t count : {0u, 1u, 2u, 5u}) {
    Rng reserving(5), drawing(5);
    reserving.bits();
    drawing.bits();
    const RngState first = reserving.reserve(count);
    for (std::uint64_t i = 0; i < count; ++i)
      EXPECT_EQ(random_bits({first.key, first.position + i}), drawing.bits());
    EXPECT_EQ(reserving.state(), drawing.state());
    EXPECT_EQ(reserving.bits(), drawing.bits());
  }
}

TEST(Rng, StreamDependsOnSeedAndNameAndNotOnPosition) {
  Rng rng(1);
  const RngState data = rng.stream("data").state();
  rng.bits();
  EXPECT_EQ(rng.stream("data").state(), data);
  EXPECT_EQ(rng.state().position, 1u) << "a stream costs no draw";
  std::map<std::uint64_t, std::string> keys = {{rng.state().key, "rng"}};
  for (const char* name : {"", "a", "b", "ab", "ba", "data", "dropout"}) {
    EXPECT_TRUE(keys.emplace(rng.stream(name).state().key, name).second) << name;
    EXPECT_TRUE(keys.emplace(Rng(2).stream(name).state().key, name).second) << name;
    EXPECT_TRUE(keys.emplace(rng.stream("a").stream(name).state().key, name).second) << name;
  }
}

TEST(Rng, StreamsAreUncorrelated) {
  constexpr int n = 100'000;
  const std::vector<Rng> streams = {Rng(1), Rng(2), Rng(1).stream("data"), Rng(1).stream("init")};
  for (std::size_t a = 0; a < streams.size(); ++a) {
    for (std::size_t b = a; b < streams.size(); ++b) {
      Rng x = streams[a], y = streams[b];
      if (a == b) y.bits();  // against itself, one draw later
      double product = 0;
      for (int i = 0; i < n; ++i) product += x.normal() * y.normal();
      EXPECT_LT(std::abs(product) / std::sqrt(n), 4) << a << " and " << b;
    }
  }
}

TEST(Rng, UniformFillsTheUnitInterval) {
  EXPECT_EQ(uniform_from_bits(0), 0);
  EXPECT_EQ(uniform_from_bits(~std::uint64_t{0}), 1 - 0x1p-53);
  constexpr int n = 100'000, bins = 100;
  std::array<int, bins> count{};
  Rng rng(11);
  for (int i = 0; i < n; ++i) ++count[static_cast<std::size_t>(rng.uniform() * bins)];
  double chi_square = 0;
  for (const int c : count) chi_square += std::pow(c - n / bins, 2) / (n / bins);
  EXPECT_GT(chi_square, 61.1);   // 99 degrees of freedom: 0.1 % lie below,
  EXPECT_LT(chi_square, 148.2);  // and 0.1 % above
}

double normal_probability(double z) { return std::erfc(-z / std::numbers::sqrt2) / 2; }

TEST(Rng, NormalIsTheInverseOfTheDistributionFunction) {
  const auto check = [](std::uint64_t k) {  // in the lower half, where the tail keeps its digits
    const double p = (static_cast<double>(k) + 0.5) * 0x1p-52;
    const double z = normal_from_bits(k << 12);
    // An error of z of one part in 10^16 is one of z^2 parts in the probability.
    EXPECT_NEAR(normal_probability(z) / p, 1, 1e-15 * (2 + z * z)) << "p = " << p;
    EXPECT_EQ(normal_from_bits(~(k << 12)), -z);
  };
  for (std::uint64_t k = 0; k < 10; ++k) check(k);
  for (std::uint64_t k = 1; k < std::uint64_t{1} << 51; k += 1 + k / 50) check(k);
}

TEST(Rng, NormalHasItsMoments) {
  constexpr int n = 1'000'000;
  Rng rng(13);
  std::array<double, 5> moment{};
  for (int i = 0; i < n; ++i) {
    const double z = rng.normal();
    double power = 1;
    for (double& m : moment) m += power / n, power *= z;
  }
  const double sigmas = 4 / std::sqrt(n);  // of the mean; var z^k is 1, 2, 15, 96
  EXPECT_NEAR(moment[1], 0, sigmas);
  EXPECT_NEAR(moment[2], 1, sigmas * std::sqrt(2));
  EXPECT_NEAR(moment[3], 0, sigmas * std::sqrt(15));
  EXPECT_NEAR(moment[4], 3, sigmas * std::sqrt(96));
}

TEST(Rng, NormalPassesKolmogorovAndSmirnov) {
  constexpr int n = 100'000;
  Rng rng(17);
  auto values = draws(n, [&] { return rng.normal(); });
  std::ranges::sort(values);
  double distance = 0;
  for (int i = 0; i < n; ++i) {
    const double p = normal_probability(values[static_cast<std::size_t>(i)]);
    distance = std::max({distance, std::abs(p - i / double{n}), std::abs(p - (i + 1) / double{n})});
  }
  EXPECT_LT(distance * std::sqrt(n), 1.63);  // 1 % of samples lie further off
}

TEST(Rng, IntegersAreEquallyLikely) {
  constexpr int n = 60'000;
  Rng rng(19);
  std::map<std::int64_t, int> count;
  for (int i = 0; i < n; ++i) ++count[rng.integer(6)];
  EXPECT_EQ(count.begin()->first, 0);
  EXPECT_EQ(count.rbegin()->first, 5);
  for (const auto& [value, times] : count) EXPECT_NEAR(times, n / 6, 4 * 100) << value;
}

// 2^64 is not a multiple of n: without rejection, the lower half would get 9/16 of the draws.
TEST(Rng, IntegersOfAHugeRangeAreNotBiased) {
  constexpr std::int64_t range = std::int64_t{3} << 61;
  constexpr int n = 40'000;
  Rng rng(23);
  int low = 0;
  for (int i = 0; i < n; ++i) low += rng.integer(range) < range / 2;
  EXPECT_NEAR(low, n / 2, 4 * 100);
  EXPECT_GT(rng.state().position, n + n / 4) << "a quarter of the words is rejected";
}

TEST(Rng, IntegerBounds) {
  Rng rng(29);
  EXPECT_EQ(rng.integer(1), 0);
  const auto largest = rng.integer(std::numeric_limits<std::int64_t>::max());
  EXPECT_GE(largest, 0);
  EXPECT_THROW(rng.integer(0), ValueError);
  EXPECT_THROW(rng.integer(std::numeric_limits<std::int64_t>::min()), ValueError);
}

TEST(Rng, PermutationsAreEquallyLikely) {
  constexpr int n = 24'000;
  Rng rng(31);
  std::map<std::vector<std::int64_t>, int> count;
  for (int i = 0; i < n; ++i) ++count[rng.permutation(4)];
  EXPECT_EQ(count.size(), 24u);
  for (const auto& [order, times] : count) {
    EXPECT_TRUE(std::ranges::is_permutation(order, std::vector{0, 1, 2, 3}));
    EXPECT_NEAR(times, n / 24, 4 * 32);
  }
}

TEST(Rng, PermutationBounds) {
  Rng rng(37);
  EXPECT_TRUE(rng.permutation(0).empty());
  EXPECT_THAT(rng.permutation(1), ElementsAre(0));
  EXPECT_THROW(rng.permutation(-1), ValueError);
}

}  // namespace
}  // namespace heed
