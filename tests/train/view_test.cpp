#include <gmock/gmock.h>
#include <heed/autograd/autograd.h>
#include <heed/train/train.h>

#include <cmath>
#include <cstdlib>
#include <limits>

#include "screen.h"
#include "support.h"

namespace heed {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(Color, ViridisGoesFromVioletToYellow) {
  EXPECT_EQ(viridis(0), (Rgb{68, 1, 84}));
  EXPECT_EQ(viridis(.5), (Rgb{33, 145, 140}));
  EXPECT_EQ(viridis(1), (Rgb{253, 231, 37}));
  EXPECT_EQ(viridis(-1), viridis(0));
  EXPECT_EQ(viridis(2), viridis(1));
  EXPECT_EQ(viridis(std::nan("")), viridis(0));
  const auto luminance = [](Rgb c) { return .2126 * c.red + .7152 * c.green + .0722 * c.blue; };
  for (int i = 0; i < 100; ++i)
    EXPECT_LE(luminance(viridis(i / 100.)), luminance(viridis((i + 1) / 100.)) + 1) << i;
}

TEST(Color, PaletteTakesTheNearestOfTheCube) {
  EXPECT_EQ(foreground({0, 0, 0}, ColorDepth::palette), "\x1b[38;5;16m");
  EXPECT_EQ(background({255, 255, 255}, ColorDepth::palette), "\x1b[48;5;231m");
  EXPECT_EQ(foreground({95, 130, 190}, ColorDepth::palette), "\x1b[38;5;67m");
  EXPECT_EQ(background({1, 2, 3}, ColorDepth::full), "\x1b[48;2;1;2;3m");
}

TEST(HeatMap, ShadesWithoutColor) {
  const Tensor a = tensor({1, 0, .25, .75}, {2, 2});
  EXPECT_THAT(heat_map(a, {}), ElementsAre("@ ", "+%"));
}

TEST(HeatMap, HalfBlocksHoldTwoQueries) {
  const Tensor a = tensor({1, 0, 0, 1, 0, 0}, {3, 2});
  const std::string bright = foreground(viridis(1), ColorDepth::full);
  const std::string dark = foreground(viridis(0), ColorDepth::full);
  const std::string below_bright = background(viridis(1), ColorDepth::full);
  const std::string below_dark = background(viridis(0), ColorDepth::full);
  EXPECT_THAT(heat_map(a, {.color = ColorDepth::full}),
              ElementsAre(bright + below_dark + "▀" + dark + below_bright + "▀\x1b[0m",
                          dark + "▀▀\x1b[0m"));
}

TEST(HeatMap, KeepsTheLargestWeightWhenItShrinks) {
  Tensor a = zeros({40, 40});
  a.mutate<float>()[39 * 40 + 13] = 1;
  const Lines lines = heat_map(a, {.width = 10});
  ASSERT_EQ(lines.size(), 10u);
  EXPECT_EQ(lines[9], "   @      ");
  for (int i = 0; i < 9; ++i) EXPECT_EQ(lines[static_cast<std::size_t>(i)], std::string(10, ' '));
}

TEST(HeatMap, FitsAHeight) {
  EXPECT_EQ(heat_map(zeros({30, 30}), {.width = 80, .height = 10}).size(), 10u);
  EXPECT_EQ(
      heat_map(zeros({30, 30}), {.width = 80, .height = 10, .color = ColorDepth::full}).size(),
      10u);
  EXPECT_EQ(columns_of(heat_map(zeros({30, 30}), {.width = 80, .height = 10})[0]), 10);
}

TEST(HeatMap, TakesMapsThatAreNotSquareOrHaveNothing) {
  const Lines wide = heat_map(ones({2, 100}), {.width = 10});
  ASSERT_EQ(wide.size(), 1u);
  EXPECT_EQ(wide[0], "@@@@@@@@@@");
  EXPECT_EQ(heat_map(ones({100, 2}), {.width = 80, .height = 10}).size(), 10u);
  EXPECT_TRUE(heat_map(zeros({0, 4}), {}).empty());
  EXPECT_TRUE(heat_map(zeros({4, 0}), {}).empty());
  EXPECT_THROW(heat_map(zeros({2, 2, 2}), {}), ShapeError);
}

TEST(HeatMaps, StandSideBySideUnderTheirTitles) {
  const Tensor a = tensor({1, 0, 0, 1}, {2, 2});
  const std::vector<HeadMap> maps{{"L0H0", a}, {"b", a}, {"c", a}};
  EXPECT_THAT(heat_maps(maps, {.width = 16}),
              ElementsAre("L0H0  b   c", "@     @   @", " @     @   @"));
  EXPECT_THAT(heat_maps(maps, {.width = 15}),
              ElementsAre("L0H  b   c", "@    @   @", " @    @   @"));
}

TEST(HeatMaps, WrapToTheWidth) {
  const std::vector<HeadMap> maps(3, {"title", ones({8, 8})});
  const Lines lines = heat_maps(maps, {.width = 20});
  ASSERT_EQ(lines.size(), 18u) << "two rows, each with a title";
  EXPECT_EQ(lines[0], "title     title");
  EXPECT_EQ(lines[9], "title");
  EXPECT_EQ(lines[1], "@@@@@@@@  @@@@@@@@");
}

TEST(HeatMaps, ShrinkToTheHeight) {
  const std::vector<HeadMap> maps(4, {"L0 H0", zeros({30, 30})});
  for (int height = 2; height < 70; ++height)
    for (ColorDepth color : {ColorDepth::none, ColorDepth::full}) {
      const Lines lines = heat_maps(maps, {.width = 80, .height = height, .color = color});
      EXPECT_LE(static_cast<int>(lines.size()), height);
      EXPECT_GE(static_cast<int>(lines.size()), std::min(height, 16) / 2) << height;
    }
}

TEST(SparkLine, GoesFromLowestToHighest) {
  const std::vector<double> values{0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(spark_line(values, 80, ColorDepth::full), "▁▂▃▄▅▆▇█");
  EXPECT_EQ(spark_line(values, 80, ColorDepth::none), "_.:-=+*#");
  EXPECT_EQ(spark_line(values, 4, ColorDepth::full), "▁▃▆█");
  EXPECT_EQ(spark_line({}, 80, ColorDepth::full), "");
}

TEST(SparkLine, TakesAnyValues) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(spark_line(std::vector{2., 2.}, 80, ColorDepth::full), "▁▁");
  EXPECT_EQ(spark_line(std::vector{1., nan, 2., infinity}, 80, ColorDepth::full), "▁ █ ");
  EXPECT_EQ(spark_line(std::vector{nan}, 80, ColorDepth::none), " ");
}

TEST(Svg, DrawsEveryRunOfCellsThatIsNotGround) {
  const Tensor a = tensor({1, 1, 0, 0, 0, 1, 0, 0, 0}, {3, 3});
  const std::vector<HeadMap> maps{{"a<b&c", a}};
  const std::string svg = heat_maps_svg(maps, 4);
  EXPECT_THAT(svg, HasSubstr("a&lt;b&amp;c"));
  EXPECT_THAT(svg, HasSubstr("<rect width=\"24\" height=\"24\" fill=\"#440154\"/>"));
  EXPECT_THAT(svg, HasSubstr("<rect x=\"0\" y=\"0\" width=\"16\" height=\"8\" fill=\"#fde725\"/>"));
  EXPECT_THAT(svg, HasSubstr("<rect x=\"16\" y=\"8\" width=\"8\" height=\"8\" fill=\"#fde725\"/>"));
  EXPECT_THAT(svg, Not(HasSubstr("y=\"16\"")));
}

TEST(Svg, PlacesItsMapsInRows) {
  const std::vector<HeadMap> maps(3, {"x", zeros({2, 2})});
  const std::string svg = heat_maps_svg(maps, 2);
  EXPECT_THAT(svg, HasSubstr("width=\"64\" height=\"104\""));
  EXPECT_THAT(svg, HasSubstr("translate(8 28)"));
  EXPECT_THAT(svg, HasSubstr("translate(40 28)"));
  EXPECT_THAT(svg, HasSubstr("translate(8 80)"));
  EXPECT_THROW(heat_maps_svg(maps, 0), ValueError);
}

}  // namespace
}  // namespace heed
