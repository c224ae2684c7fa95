#pragma once

#include <heed/train/view/color.h>

#include <span>
#include <string>

namespace heed {

/// A curve one line high, its lowest value at the bottom and its highest at the top; values that
/// are not finite leave a gap. More values than `width` are averaged in groups. Blocks of eight
/// heights or, where `color` is none, shades of ASCII; never wider than `width` characters.
std::string spark_line(std::span<const double> values, int width, ColorDepth color);

}  // namespace heed
