#pragma once

#include <heed/data/option.h>
#include <heed/data/text/tokenizer.h>

#include <memory>
#include <string_view>

namespace heed {

// How a text is written in ids: options of every task that reads a file.

inline constexpr Option<Choice> kTokenizer{
    "tokenizer", "what a token of the file is", {"characters bytes bpe"}, "characters"};
inline constexpr Option<Whole> kVocabulary{
    "vocabulary", "tokens of bpe, of which 256 are bytes", {256, 65536}, 512};

/// The tokenizer that the options hold, or else the one that was chosen: every character of the
/// whole text, or any byte, or pairs of bytes that are learnt from the part to train on alone.
std::unique_ptr<Tokenizer> make_tokenizer(const TaskOptions& options, std::string_view whole,
                                          std::string_view training);

}  // namespace heed
