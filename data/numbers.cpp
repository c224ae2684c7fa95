#include <heed/autograd/error.h>
#include <heed/data/numbers.h>

#include <array>
#include <charconv>
#include <cmath>

namespace heed {
namespace {

template <class Range, class T>
T read_number(const Range& range, std::string_view name, std::string_view written, T value) {
  const char* end = written.data() + written.size();
  const auto [stop, error] = std::from_chars(written.data(), end, value);
  if (error == std::errc::invalid_argument || stop != end || !std::isfinite(double(value)))
    throw ValueError(text(name, " = ", written, ": it must be ", range.range()));
  if (error != std::errc() || !range.holds(value))
    throw ValueError(text(name, " = ", written, " is out of range: it must be ", range.range()));
  return value;
}

template <class T>
std::string digits(T value) {
  std::array<char, 32> written;
  const auto [end, error] = std::to_chars(written.data(), written.data() + written.size(), value);
  return {written.data(), end};
}

}  // namespace

bool Whole::holds(std::int64_t value) const { return value >= low && value <= high; }
bool Real::holds(double value) const {
  return value >= 0 && (below ? value < high : value <= high);
}

std::string Whole::range() const {
  return text("a whole number from ", written(low), " to ", written(high));
}

std::string Real::range() const {
  if (std::isinf(high)) return "a finite number, 0 or more";
  return text("a number from 0 to ", below ? "below " : "", written(high));
}

std::int64_t Whole::read(std::string_view name, std::string_view written) const {
  return read_number(*this, name, written, std::int64_t{0});
}

double Real::read(std::string_view name, std::string_view written) const {
  return read_number(*this, name, written, 0.);
}

std::string written(std::int64_t value) { return digits(value); }
std::string written(double value) { return digits(value); }

}  // namespace heed
