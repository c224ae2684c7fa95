#include <heed/autograd/error.h>
#include <heed/data/letters.h>

namespace heed {

std::string letters(std::int64_t count) {
  return std::string(kLetters.substr(0, static_cast<std::size_t>(count)));
}

std::int64_t payload_of(std::string_view task, std::int64_t context) {
  if (context < 2 || context % 2 != 0)
    throw ValueError(text(task, ": context = ", context,
                          ": it must be even and at least 2, twice the letters that are given"));
  return context / 2;
}

std::vector<std::int64_t> draw_ids(std::int64_t count, std::int64_t symbols, Rng& rng) {
  std::vector<std::int64_t> ids;
  for (std::int64_t i = 0; i < count; ++i) ids.push_back(rng.integer(symbols));
  return ids;
}

}  // namespace heed
