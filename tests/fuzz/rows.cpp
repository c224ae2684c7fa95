// Any bytes as a file of pairs: read or refused; what is read is what the lines say, encoded and
// decoded by any tokenizer it stays the same, and a task of it asks for the targets that it holds.
#include <heed/data/data.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

/// Every row of a batch, as far as it says something: input, tab, target and the first end.
std::set<std::string> rows_of(const heed::Task& task, const heed::Batch& batch) {
  std::set<std::string> rows;
  for (std::int64_t row = 0; row < batch.inputs.dim(0); ++row) {
    const auto inputs = heed::row_of(batch.inputs, row), targets = heed::row_of(batch.targets, row);
    const auto asks = [](std::int64_t id) { return id != heed::kIgnore; };
    const auto first = std::ranges::find_if(targets, asks);
    const auto end = std::ranges::find_if_not(first, targets.end(), asks);
    require(first != end && std::none_of(end, targets.end(), asks));
    const auto given = static_cast<std::size_t>(first - targets.begin()) + 1;
    const auto asked = static_cast<std::size_t>(end - first);
    rows.insert(task.decode(inputs.first(given)) + task.decode(targets.subspan(given - 1, asked)));
  }
  return rows;
}

void make_and_read(const std::vector<heed::TextPair>& pairs, const heed::TaskOptions& options) {
  std::set<std::string> all;
  for (const auto& [input, target, line] : pairs) all.insert(input + "\t" + target + "\n");
  try {
    const auto task = heed::make_rows_task(pairs, options);
    heed::Rng rng(1);
    const auto held_out = rows_of(*task, task->held_out(0, task->held_out_rows()));
    const auto trained = rows_of(*task, task->sample(8, rng));
    for (const std::string& row : held_out) require(all.contains(row) && !trained.contains(row));
    for (const std::string& row : trained) require(all.contains(row));
    for (const heed::Baseline& baseline : task->baselines()) require(baseline.loss >= 0);
  } catch (const heed::FileError&) {  // all of one input, or too long
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::vector<heed::TextPair> pairs;
  try {
    pairs = heed::parse_pairs(bytes, "fuzz");
  } catch (const heed::FileError&) {
    return 0;
  }
  std::string lines;
  for (const auto& [input, target, line] : pairs) {
    require(!input.empty() && !target.empty() && line >= 1);
    lines += input + "\t" + target + "\n";
  }
  require(heed::clean_text(bytes, "fuzz").starts_with(lines.substr(0, lines.size() - 1)));
  const auto bpe = heed::BytePairTokenizer::of(lines, 260 + static_cast<std::int64_t>(size % 100));
  const auto loaded = heed::load_tokenizer(bpe.save());
  require(loaded->decode(loaded->encode(lines)) == lines);
  require(heed::ByteTokenizer().decode(heed::ByteTokenizer().encode(lines)) == lines);
  for (const char* kind : {"characters", "bytes", "bpe"})
    make_and_read(pairs, {.file = "fuzz",
                          .context = 1 + static_cast<std::int64_t>(data[size - 1]),
                          .seed = size,
                          .chosen = {{"tokenizer", kind}, {"vocabulary", "300"}}});
  return 0;
}
