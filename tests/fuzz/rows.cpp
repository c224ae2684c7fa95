// Any bytes as a file of pairs: read or refused; what is read is what the lines say, and encoded
// and decoded by any tokenizer it stays the same.
#include <heed/data/data.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::string lines;
  try {
    for (const auto& [input, target, line] : heed::parse_pairs(bytes, "fuzz")) {
      if (input.empty() || target.empty() || line < 1) std::abort();
      lines += input + "\t" + target + "\n";
    }
  } catch (const heed::FileError&) {
    return 0;
  }
  if (!heed::clean_text(bytes, "fuzz").starts_with(lines.substr(0, lines.size() - 1))) std::abort();
  const auto bpe = heed::BytePairTokenizer::of(lines, 260 + static_cast<std::int64_t>(size % 100));
  const auto loaded = heed::load_tokenizer(bpe.save());
  if (loaded->decode(loaded->encode(lines)) != lines) std::abort();
  if (heed::ByteTokenizer().decode(heed::ByteTokenizer().encode(lines)) != lines) std::abort();
  return 0;
}
