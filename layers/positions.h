#pragma once

#include <heed/autograd/rng.h>
#include <heed/layers/visitor.h>

#include <array>
#include <string_view>

namespace heed {

/// How a model knows the order of its tokens. The first two are added to what it reads, and the
/// next two act within self-attention. Only `learned` has an end: all others can read any length.
enum class Positions {
  learned,     ///< a vector for each position: PositionEmbedding
  sinusoidal,  ///< fixed waves: sinusoidal_positions
  rotary,      ///< queries and keys turned by their position: rope
  alibi,       ///< scores less the distance of query and key: alibi_bias
  none         ///< only what a causal mask tells of it
};

inline constexpr std::array kPositions{Positions::learned, Positions::sinusoidal, Positions::rotary,
                                       Positions::alibi, Positions::none};
/// As on the command line: "learned", "sinusoidal", ...
std::string_view name(Positions positions);

/// A learned vector for each position before `context` (Gehring et al., arXiv:1705.03122). The
/// table starts from normal(0, 1).
struct PositionEmbedding {
  Tensor weight;  ///< (context, d)

  PositionEmbedding(std::int64_t context, std::int64_t d, Rng& rng);

  /// The vectors of the `time` positions from `start` on, (T, d). Throws IndexError past the
  /// context.
  Tensor operator()(std::int64_t time, std::int64_t start = 0) const;
  void visit(Visitor& v);
};

/// The `time` positions from `start` on as waves, (T, d): sin(t / 10000^(2i/d)) in column 2i and
/// the cosine in column 2i + 1 (Vaswani et al., arXiv:1706.03762, section 3.5).
Tensor sinusoidal_positions(std::int64_t time, std::int64_t d, std::int64_t start = 0,
                            DType dtype = f32);

}  // namespace heed
