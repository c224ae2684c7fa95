#pragma once

#include <heed/autograd/tensor.h>
#include <heed/train/view/color.h>

#include <span>
#include <string>
#include <vector>

namespace heed {

/// Lines of text for a terminal, without their ends.
using Lines = std::vector<std::string>;

/// The room there is for a drawing, in characters; a height of 0 is no limit.
struct Room {
  int width = 80;
  int height = 0;
  ColorDepth color = ColorDepth::none;
};

/// What a head does, with a few words above.
struct HeadMap {
  std::string title;  ///< ASCII; cut to the width of the map
  Tensor weights;     ///< (Tq, Tk), in [0, 1]
};

/// A heat map, queries downwards and keys to the right. In colour a character holds two queries, as
/// the upper half block on its background; without, one, as a shade of ASCII. What is larger than
/// the room is made smaller, in proportion, and a cell then shows the largest weight it stands for.
/// No line is wider than the room, whatever its width; ShapeError unless the weights have two axes.
Lines heat_map(const Tensor& weights, const Room& room);

/// Several of them with their titles, side by side and in rows, as large as the room lets them be.
Lines heat_maps(std::span<const HeadMap> maps, const Room& room);

}  // namespace heed
