#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace heed {

/// How many letters to insert, delete, replace or swap with their neighbour to turn one word into
/// the other (optimal string alignment distance).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The known name nearest to a mistyped one, the first of those equally near; none if even that one
/// is too far to be meant: more than a third of the longer of the two. Capitals do not count.
std::optional<std::string> nearest_name(std::string_view word, std::span<const std::string> known);

/// The sentence for a name that is not known: unknown task "cpoy"; did you mean "copy"? With no
/// near one it lists those known.
std::string unknown_name(std::string_view kind, std::string_view word,
                         std::span<const std::string> known);

/// The sentence for a value that is none of a few words: schedule = cosin: it must be constant or
/// cosine; did you mean "cosine"? `range` is all that it may be.
std::string unknown_choice(std::string_view name, std::string_view written, std::string_view range,
                           std::span<const std::string> known);

}  // namespace heed
