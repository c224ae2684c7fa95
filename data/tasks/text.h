#pragma once

#include <heed/data/registry.h>
#include <heed/data/task.h>
#include <heed/data/text/corpus.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// The next token of a text: a character, unless the options say otherwise (see make_tokenizer).
/// The last 10 % of the characters is held out; a training row starts anywhere in the rest.
class TextTask : public Task {
 public:
  /// `bytes` is the content of a text file; options.file is its name in messages, options.context
  /// T, at first 64. Throws FileError if it is not UTF-8, if a part of it is no longer than the
  /// context, or for a character that is not in the vocabulary of options.tokenizer; ValueError if
  /// the context is below 1.
  explicit TextTask(std::string_view bytes, const TaskOptions& options = {});

  std::int64_t context() const override { return training_.context(); }
  const Tokenizer& tokenizer() const override { return *tokenizer_; }
  Batch sample(std::int64_t rows, Rng& rng) const override;
  /// Windows side by side; each token of the held-out part but its first is a target once.
  std::int64_t held_out_rows() const override { return validation_.tiles(); }
  Batch held_out(std::int64_t first, std::int64_t rows) const override;
  /// With the entropy of single tokens in the held-out part: who loses less knows more than how
  /// often each comes.
  std::vector<Baseline> baselines() const override;

 private:
  struct Clean {
    std::string text;
  };
  TextTask(const Clean& clean, const TaskOptions& options);
  TextTask(const std::string& text, const Parts& parts, const TaskOptions& options);
  Windows windows(std::string_view text, std::string_view part, const TaskOptions& options,
                  std::string_view which) const;

  std::unique_ptr<Tokenizer> tokenizer_;
  Windows training_, validation_;
};

/// heed train text FILE
TaskInfo text_task();

}  // namespace heed
