#pragma once

#include <heed/data/text/tokenizer.h>

#include <map>
#include <utility>

namespace heed {

/// One id a byte of UTF-8: any text can be written.
class ByteTokenizer : public Tokenizer {
 public:
  std::int64_t size() const override { return 256; }
  /// Throws ValueError with the offset if the text is not UTF-8.
  std::vector<std::int64_t> encode(std::string_view text) const override;
  /// Bytes that are no whole character are shown as U+FFFD.
  std::string decode(std::span<const std::int64_t> ids) const override;
  std::string save() const override { return "bytes:"; }
};

/// Byte-pair encoding (Sennrich, Haddow and Birch, arXiv:1508.07909) over bytes: ids 0 to 255 are
/// bytes, and each id after them stands for two earlier ones side by side. Nothing is joined across
/// the border of a word, where a word is letters with the space before them; any other white space
/// stands alone.
class BytePairTokenizer : public Tokenizer {
 public:
  using Pair = std::pair<std::int64_t, std::int64_t>;

  /// Id 256 + i stands for the i-th pair. Throws ValueError if a pair comes twice, holds an id that
  /// is not earlier, or stands for more than 64 bytes.
  explicit BytePairTokenizer(std::vector<Pair> pairs);
  /// Learns from a text, always joining the pair that is most frequent by then (of equals the one
  /// of the smallest ids), until there are `vocabulary` ids or no pair comes twice. Throws
  /// ValueError if the vocabulary is below 256 or the text is not UTF-8.
  static BytePairTokenizer of(std::string_view text, std::int64_t vocabulary);

  std::int64_t size() const override { return std::ssize(bytes_); }
  std::vector<std::int64_t> encode(std::string_view text) const override;
  std::string decode(std::span<const std::int64_t> ids) const override;
  std::string save() const override;

 private:
  std::vector<Pair> pairs_;
  std::map<Pair, std::int64_t> joined_;  // the id of each pair
  std::vector<std::string> bytes_;       // what each id stands for
};

/// The tokenizer that BytePairTokenizer::save() wrote after its kind. Throws ValueError.
BytePairTokenizer parse_byte_pairs(std::string_view saved);

}  // namespace heed
