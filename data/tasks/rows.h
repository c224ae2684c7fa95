#pragma once

#include <heed/data/registry.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// A line of a file: input<TAB>target.
struct TextPair {
  std::string input, target;
  std::int64_t line;  ///< the first is 1
};

/// The pairs of a file of lines input<TAB>target, in UTF-8; a byte order mark, \r\n and empty lines
/// at the end do not matter. Throws FileError, naming `source` and the line, for bytes that are not
/// UTF-8 (with their offset), an empty line, and one without exactly one tab with something on
/// either side of it.
std::vector<TextPair> parse_pairs(std::string_view bytes, std::string_view source);

/// The task of such pairs; options.file is their name in messages. Throws FileError if all have one
/// input (unless all are held out), if one with its tab and its end does not fit into the context,
/// and for a character that options.tokenizer does not know.
std::unique_ptr<Task> make_rows_task(const std::vector<TextPair>& pairs,
                                     const TaskOptions& options);

/// An option of the task. As no share is too small for one input, a run of old may have 0.
inline constexpr Option<Real> kRowsHeldOut{
    "held-out",
    "share of the different inputs that is not trained on, above 0; at least one",
    {1, true},
    0.1};

/// heed train rows FILE
TaskInfo rows_task();

}  // namespace heed
