#include <heed/autograd/error.h>
#include <heed/data/text/bytes.h>
#include <heed/data/text/tokenizer.h>
#include <heed/data/text/words.h>

namespace heed {
namespace {

std::unique_ptr<Tokenizer> load(std::string_view kind, std::string_view rest) {
  if (kind == "characters") return std::make_unique<CharacterTokenizer>(rest);
  if (kind == "bytes" && rest.empty()) return std::make_unique<ByteTokenizer>();
  if (kind == "bpe") return std::make_unique<BytePairTokenizer>(parse_byte_pairs(rest));
  if (kind == "words") return std::make_unique<WordTokenizer>(split_words(rest));
  throw ValueError("it should start with characters:, bytes:, bpe: or words:");
}

}  // namespace

std::unique_ptr<Tokenizer> load_tokenizer(std::string_view saved) {
  const std::size_t colon = saved.find(':');
  if (colon == std::string_view::npos) throw FileError("tokenizer: damaged: it names no kind");
  try {
    auto loaded = load(saved.substr(0, colon), saved.substr(colon + 1));
    if (loaded->save() != saved) throw ValueError("it is not what it would be saved as");
    return loaded;
  } catch (const ValueError& error) {
    throw FileError(text("tokenizer: damaged: ", error.what()));
  }
}

}  // namespace heed
