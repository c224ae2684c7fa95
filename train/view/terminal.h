#pragma once

#include <heed/train/view/heat_map.h>

namespace heed {

/// What is at the other end of a file descriptor.
struct Terminal {
  bool interactive = false;  ///< someone watches, and lines may be drawn over
  int width = 80;
  int height = 24;
  ColorDepth color = ColorDepth::none;

  /// Room for a drawing that leaves a line for the cursor.
  Room room() const { return {width, height - 1, color}; }
};

/// Asks the descriptor for its size, and the environment (TERM, COLORTERM, NO_COLOR, COLUMNS) for
/// what it can show. A size of 0 means that nobody knows: 80 columns, 24 lines. Something that is
/// no terminal, or a dumb one, has no colour and is not drawn over.
Terminal terminal(int descriptor);

/// Lines at the bottom of a terminal that are drawn over in place. The cursor stays below them, so
/// that whatever ends the program leaves the terminal as it should be.
class LiveLines {
 public:
  explicit LiveLines(int descriptor) : descriptor_(descriptor) {}

  /// Draws the lines in the place of those drawn before. Each has to fit the terminal's width, and
  /// all its height.
  void draw(const Lines& lines);
  /// Removes what is drawn; what is written next stands in its place.
  void erase() { draw({}); }
  /// Leaves what is drawn for good.
  void keep() { drawn_ = 0; }

 private:
  int descriptor_;
  std::size_t drawn_ = 0;
};

}  // namespace heed
