#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace heed {

/// All there is to know of a generator: a checkpoint holds these two numbers.
struct RngState {
  std::uint64_t key = 0;
  std::uint64_t position = 0;  ///< draws made so far
  friend bool operator==(const RngState&, const RngState&) = default;
};

/// A counter-based generator: draw number `position` of stream `key` is Philox4x32-10 of the two
/// (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011). A draw is one 64-bit
/// word, and its value is the same on every CPU, compiler and flag.
class Rng {
 public:
  explicit Rng(std::uint64_t seed) : state_{seed, 0} {}

  RngState state() const { return state_; }
  void set_state(RngState state);
  /// An independent generator from its start, the same for the same seed and name, however far this
  /// one has advanced.
  Rng stream(std::string_view name) const;
  /// Passes over `draws` draws and returns the state before them: what a kernel needs to make those
  /// draws itself, in any order.
  RngState reserve(std::uint64_t draws);

  std::uint64_t bits();
  /// In [0, 1), a multiple of 2^-53.
  double uniform();
  /// Standard normal, by inverse distribution function (Wichura, algorithm AS 241, 1988).
  double normal();
  /// In [0, n), every value exactly as likely as the others: one draw, and another one with
  /// probability below n / 2^64. Throws ValueError if n < 1.
  std::int64_t integer(std::int64_t n);
  /// 0 to n - 1 in random order (Fisher and Yates). Throws ValueError if n < 0.
  std::vector<std::int64_t> permutation(std::int64_t n);

 private:
  RngState state_;
  std::array<std::uint64_t, 2> block_{};  // the two words of the block at `position`, if it is odd
};

/// Draw number `position` of stream `key`: what Rng::bits() returns in this state.
std::uint64_t random_bits(RngState state);
/// What Rng::uniform() makes of a draw.
double uniform_from_bits(std::uint64_t bits);
/// What Rng::normal() makes of a draw: symmetric about 0, and never beyond 8.21.
double normal_from_bits(std::uint64_t bits);

}  // namespace heed
