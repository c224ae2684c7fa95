#include <gtest/gtest.h>
#include <heed/autograd/autograd.h>
#include <heed/train/train.h>

#include "../train/screen.h"

namespace heed {
namespace {

TEST(Cases, U03NoLineIsWiderThanTheTerminal) {
  Rng rng(1);
  std::vector<HeadMap> maps;
  for (int i = 0; i < 6; ++i) maps.push_back({text("layer 0 head ", i), uniform({30, 30}, rng)});
  const std::vector<double> losses = uniform({300}, rng).to_vector();
  for (int width : {0, 1, 10, 20, 40, 79, 500})
    for (ColorDepth color : {ColorDepth::none, ColorDepth::palette, ColorDepth::full})
      for (int height : {0, 1, 5, 24}) {
        const Room room{width, height, color};
        Lines lines = heat_maps(maps, room);
        const bool no_room = width == 0 || height == 1 || (width == 1 && height == 5);
        EXPECT_EQ(lines.empty(), no_room) << width << " x " << height;
        if (height > 0) {
          EXPECT_LE(static_cast<int>(lines.size()), height);
        }
        for (const std::string& line : heat_map(maps[0].weights, room)) lines.push_back(line);
        lines.push_back(spark_line(losses, width, color));
        for (const std::string& line : lines)
          EXPECT_LE(columns_of(line), width) << width << " x " << height;
      }
}

}  // namespace
}  // namespace heed
