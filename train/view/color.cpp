#include <heed/train/view/color.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace heed {
namespace {

constexpr std::array<Rgb, 9> kViridis{{{68, 1, 84},
                                       {71, 44, 122},
                                       {59, 82, 139},
                                       {44, 113, 142},
                                       {33, 145, 140},
                                       {39, 173, 129},
                                       {94, 201, 98},
                                       {170, 220, 50},
                                       {253, 231, 37}}};

std::uint8_t between(std::uint8_t a, std::uint8_t b, double part) {
  return static_cast<std::uint8_t>(std::lround(a + (b - a) * part));
}

/// Number of the nearest colour in xterm's 6 x 6 x 6 cube.
int in_cube(Rgb color) {
  const auto level = [](int value) {
    constexpr std::array kLevels{0, 95, 135, 175, 215, 255};
    const auto nearest = std::ranges::min_element(
        kLevels, {}, [value](int candidate) { return std::abs(candidate - value); });
    return static_cast<int>(nearest - kLevels.begin());
  };
  return 16 + 36 * level(color.red) + 6 * level(color.green) + level(color.blue);
}

std::string sequence(int ground, Rgb color, ColorDepth depth) {
  const std::string start = "\x1b[" + std::to_string(ground);
  if (depth == ColorDepth::palette) return start + ";5;" + std::to_string(in_cube(color)) + "m";
  return start + ";2;" + std::to_string(color.red) + ";" + std::to_string(color.green) + ";" +
         std::to_string(color.blue) + "m";
}

}  // namespace

Rgb viridis(double t) {
  if (!(t > 0)) return kViridis.front();
  if (t >= 1) return kViridis.back();
  const double place = t * (kViridis.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const double part = place - static_cast<double>(below);
  const Rgb a = kViridis[below], b = kViridis[below + 1];
  return {between(a.red, b.red, part), between(a.green, b.green, part),
          between(a.blue, b.blue, part)};
}

double brightness(double weight) { return weight > 0 ? std::min(std::sqrt(weight), 1.) : 0; }

std::string foreground(Rgb color, ColorDepth depth) { return sequence(38, color, depth); }
std::string background(Rgb color, ColorDepth depth) { return sequence(48, color, depth); }

}  // namespace heed
