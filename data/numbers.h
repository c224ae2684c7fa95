#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace heed {

/// No count that anybody could wait for is larger.
inline constexpr std::int64_t kMostCount = 1'000'000'000'000;

/// The whole numbers that a flag or setting takes, both ends included.
struct Whole {
  std::int64_t low = 0, high = kMostCount;

  bool holds(std::int64_t value) const;
  /// a whole number from 0 to 10
  std::string range() const;
  /// Reads decimal digits, the same way in every locale. Throws ValueError with `name`, what was
  /// written, and what it may be.
  std::int64_t read(std::string_view name, std::string_view written) const;
};

/// The numbers from 0 that a flag or setting takes.
struct Real {
  double high = std::numeric_limits<double>::infinity();
  bool below = false;  ///< `high` itself is too much

  bool holds(double value) const;
  std::string range() const;
  /// As Whole::read; nan and infinity are no numbers.
  double read(std::string_view name, std::string_view written) const;
};

/// The shortest digits that read back as the same number, the same in every locale.
std::string written(std::int64_t value);
std::string written(double value);

}  // namespace heed
