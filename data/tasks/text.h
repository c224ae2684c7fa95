#pragma once

#include <heed/data/registry.h>
#include <heed/data/task.h>
#include <heed/data/text/corpus.h>

#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// The next character of a text. The vocabulary is every character that occurs in it; the last 10 %
/// is held out; a training row starts anywhere in the rest.
class TextTask : public Task {
 public:
  /// `bytes` is the content of a text file, and `source` its name in messages. Throws FileError if
  /// it is not UTF-8 or a part of it is no longer than `context`; ValueError if context < 1.
  TextTask(std::string_view bytes, std::int64_t context, std::string_view source = "the text");

  std::int64_t context() const override { return training_.context(); }
  const Tokenizer& tokenizer() const override { return tokenizer_; }
  Batch sample(std::int64_t rows, Rng& rng) const override;
  /// Windows side by side; each character of the held-out part but its first is a target once.
  std::int64_t held_out_rows() const override { return validation_.tiles(); }
  Batch held_out(std::int64_t first, std::int64_t rows) const override;
  /// With the entropy of single characters in the held-out part: who loses less knows more than how
  /// often each character comes.
  std::vector<Baseline> baselines() const override;

 private:
  struct Corpus {
    CharacterTokenizer tokenizer;
    Parts parts;
  };
  static Corpus corpus(std::string_view bytes, std::string_view source);
  TextTask(Corpus corpus, std::int64_t context, std::string_view source);

  CharacterTokenizer tokenizer_;
  Windows training_, validation_;
};

/// heed train text FILE
TaskInfo text_task();

}  // namespace heed
