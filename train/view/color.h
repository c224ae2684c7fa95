#pragma once

#include <cstdint>
#include <string>

namespace heed {

/// What an output can show: nothing but ASCII, the 256 colours of xterm, or all.
enum class ColorDepth { none, palette, full };

struct Rgb {
  std::uint8_t red, green, blue;
  friend bool operator==(const Rgb&, const Rgb&) = default;
};

/// From dark violet to yellow, equal steps of t in [0, 1] looking equally far apart (the viridis
/// map of matplotlib, by van der Walt and Smith). Anything else is taken to the nearer end.
Rgb viridis(double t);

/// Where a weight in [0, 1] stands between dark and bright: its square root, so that the 1/T of an
/// even spread over T keys is not yet black.
double brightness(double weight);

/// The terminal's sequence for a foreground or background; `depth` is not none.
std::string foreground(Rgb color, ColorDepth depth);
std::string background(Rgb color, ColorDepth depth);

}  // namespace heed
