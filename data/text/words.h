#pragma once

#include <heed/data/text/tokenizer.h>

#include <map>

namespace heed {

/// One id a word, where a text is words with a space between them.
class WordTokenizer : public Tokenizer {
 public:
  /// Id i is the i-th word. Throws ValueError if there is none, or if one is empty, comes twice,
  /// holds a space or is not UTF-8.
  explicit WordTokenizer(std::vector<std::string> words);

  std::int64_t size() const override { return std::ssize(words_); }
  std::vector<std::int64_t> encode(std::string_view text) const override;
  std::string decode(std::span<const std::int64_t> ids) const override;
  std::string_view gap() const override { return " "; }
  std::string save() const override;

 private:
  std::vector<std::string> words_;
  std::map<std::string, std::int64_t, std::less<>> ids_;
};

/// The words between the spaces of a text; empty ones where two spaces meet.
std::vector<std::string> split_words(std::string_view text);

}  // namespace heed
