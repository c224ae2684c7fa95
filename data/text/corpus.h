#pragma once

#include <heed/data/option.h>
#include <heed/data/text/tokenizer.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// Every byte of a file. Throws FileError if it is missing, unreadable, empty or no regular file.
std::string read_file(const std::string& path);

/// The content that the options give, or else that of their file. Throws as read_file does.
std::string content_of(const TaskOptions& options);

/// UTF-8 text without a byte order mark and with \n for \r\n. Throws FileError, naming `source`,
/// line and offset, if the bytes are not UTF-8, or if there is no text.
std::string clean_text(std::string_view bytes, std::string_view source);

/// A text split for training, before any window is cut: no window holds characters of both parts.
struct Parts {
  std::string_view training;    ///< the first 90 % of the characters, rounded down
  std::string_view validation;  ///< the rest
};
/// Throws ValueError for bytes that are not UTF-8.
Parts split_for_training(std::string_view text);

/// The ids of `part`, a view into `text`. Throws FileError, naming `source`, the line and the
/// position in it, for a character that is not in the vocabulary.
std::vector<std::int64_t> encode_part(const Tokenizer& tokenizer, std::string_view text,
                                      std::string_view part, std::string_view source);

/// Of the frequencies of ids, in nats: what is lost by who knows how often each comes.
double entropy_of(std::span<const std::int64_t> ids);

/// The windows of T + 1 consecutive ids (T inputs, each with the next id as its target) of one part
/// of a text.
class Windows {
 public:
  /// Throws ValueError if `context`, T, is below 1, and FileError if the part has no window: fewer
  /// than T + 1 ids. `part` names it in the message.
  Windows(std::vector<std::int64_t> ids, std::int64_t context, std::string_view part);

  /// How many places a window can start at: 0 to n - T - 1.
  std::int64_t starts() const { return std::ssize(ids_) - context_; }
  /// The T + 1 ids from `start` on. Throws IndexError outside [0, starts()).
  std::span<const std::int64_t> at(std::int64_t start) const;

  /// A window of the cover, and its first position whose target no earlier window has.
  struct Tile {
    std::int64_t start, first;
  };
  /// How many windows side by side cover the part.
  std::int64_t tiles() const;
  /// The cover in which every id but the first of the part is a target exactly once: windows side
  /// by side, the last one moved back to end with the part. Throws IndexError outside [0, tiles()).
  Tile tile(std::int64_t index) const;

  std::span<const std::int64_t> ids() const { return ids_; }
  std::int64_t context() const { return context_; }

 private:
  std::vector<std::int64_t> ids_;
  std::int64_t context_;
};

}  // namespace heed
