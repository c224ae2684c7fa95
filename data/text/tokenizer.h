#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace heed {

/// The map between text and ids 0 to size() - 1. It can be saved as a string, so that a checkpoint
/// carries it and a run can be sampled without the text it was trained on.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// How many ids there are: V.
  virtual std::int64_t size() const = 0;
  /// The ids of UTF-8 text. Throws ValueError, naming the character and its position, if the text
  /// cannot be written in this vocabulary.
  virtual std::vector<std::int64_t> encode(std::string_view text) const = 0;
  /// The text of ids. Throws IndexError on an id outside [0, V).
  virtual std::string decode(std::span<const std::int64_t> ids) const = 0;
  /// What stands in a text between any two ids.
  virtual std::string_view gap() const { return ""; }
  /// A string, its kind at its head, from which load_tokenizer makes an equal one.
  virtual std::string save() const = 0;

 protected:
  /// Throws the IndexError of decode().
  void require_id(std::int64_t id, std::size_t position) const;
};

/// The tokenizer that save() was called on. Throws FileError if the string is of no known kind or
/// damaged.
std::unique_ptr<Tokenizer> load_tokenizer(std::string_view saved);

/// One id a character, that is, a Unicode code point.
class CharacterTokenizer : public Tokenizer {
 public:
  /// Id i is the i-th character. Throws ValueError if there is none, if one comes twice, or if the
  /// string is not UTF-8.
  explicit CharacterTokenizer(std::string_view characters);
  /// Of all characters that occur in `text`, in code-point order.
  static CharacterTokenizer of(std::string_view text);

  /// Every character in the order of its id, in UTF-8.
  std::string characters() const;

  std::int64_t size() const override { return static_cast<std::int64_t>(characters_.size()); }
  std::vector<std::int64_t> encode(std::string_view text) const override;
  std::string decode(std::span<const std::int64_t> ids) const override;
  std::string save() const override;

 private:
  explicit CharacterTokenizer(std::u32string characters);

  std::u32string characters_;
  std::unordered_map<char32_t, std::int64_t> ids_;
};

}  // namespace heed
