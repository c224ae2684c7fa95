#include <heed/data/text/bytes.h>
#include <heed/data/text/make_tokenizer.h>

namespace heed {

std::unique_ptr<Tokenizer> make_tokenizer(const TaskOptions& options, std::string_view whole,
                                          std::string_view training) {
  if (!options.tokenizer.empty()) return load_tokenizer(options.tokenizer);
  const std::string_view kind = kTokenizer.of(options);
  if (kind == "bytes") return std::make_unique<ByteTokenizer>();
  if (kind == "bpe")
    return std::make_unique<BytePairTokenizer>(
        BytePairTokenizer::of(training, kVocabulary.of(options)));
  return std::make_unique<CharacterTokenizer>(CharacterTokenizer::of(whole));
}

}  // namespace heed
