// Any bytes as a saved tokenizer: loaded or refused; what is loaded saves to the same bytes.
#include <heed/data/data.h>

#include <cstdint>
#include <cstdlib>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view saved(reinterpret_cast<const char*>(data), size);
  try {
    if (heed::load_tokenizer(saved)->save() != saved) std::abort();
  } catch (const heed::FileError&) {
  }
  return 0;
}
