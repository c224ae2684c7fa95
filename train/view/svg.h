#pragma once

#include <heed/train/view/heat_map.h>

#include <span>
#include <string>

namespace heed {

/// The maps side by side, `per_row` in a row, below their titles: one SVG document that needs
/// nothing else and reads on light and dark pages. Queries downwards, keys to the right; colours as
/// in heat_map. Throws ShapeError unless the weights have two axes, ValueError unless per_row > 0.
std::string heat_maps_svg(std::span<const HeadMap> maps, int per_row);

}  // namespace heed
