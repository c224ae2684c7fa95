// Any bytes as a text: cleaned or refused; what is cleaned survives its own vocabulary, and its
// held-out rows ask for every character of the last tenth but the first, once.
#include <heed/data/data.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

std::int64_t held_out_targets(const heed::Task& task) {
  const heed::Tokens targets = task.held_out(0, task.held_out_rows()).targets;
  std::int64_t count = 0;
  for (const std::int64_t id : targets.data()) count += id != heed::kIgnore;
  return count;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::string text;
  try {
    text = heed::clean_text(bytes, "fuzz");
  } catch (const heed::FileError&) {
    return 0;
  }
  const auto tokenizer = heed::CharacterTokenizer::of(text);
  const auto ids = tokenizer.encode(text);
  if (tokenizer.decode(ids) != text) std::abort();
  if (heed::load_tokenizer(tokenizer.save())->encode(text) != ids) std::abort();

  const std::int64_t context = 1 + data[size - 1] % 8;
  const std::int64_t validation = std::ssize(ids) - std::ssize(ids) * 9 / 10;
  const bool long_enough = std::ssize(ids) - validation > context && validation > context;
  try {
    const heed::TextTask task(bytes, {.context = context});
    if (!long_enough || held_out_targets(task) != validation - 1) std::abort();
    heed::Rng rng(size);
    if (task.sample(2, rng).inputs.numel() != 2 * context) std::abort();
  } catch (const heed::FileError&) {
    if (long_enough) std::abort();
  }
  return 0;
}
