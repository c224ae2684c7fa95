#include <heed/autograd/error.h>
#include <heed/data/numbers.h>
#include <heed/data/text/bytes.h>
#include <heed/data/text/utf8.h>

#include <algorithm>
#include <optional>
#include <set>

namespace heed {
namespace {

using Pair = BytePairTokenizer::Pair;
using Ids = std::vector<std::int64_t>;

constexpr std::int64_t kBytes = 256;
constexpr std::size_t kLongestPiece =
    64;  // bytes of one id: what pairs of pairs stand for grows fast

Ids ids_of(std::string_view text) {
  require_utf8(text);
  Ids ids;
  ids.reserve(text.size());
  for (const char c : text) ids.push_back(static_cast<unsigned char>(c));
  return ids;
}

/// Cuts the first word off a text.
std::string_view take_word(std::string_view& text) {
  constexpr std::string_view kWhite = " \t\n\r\v\f";
  const std::size_t start = text.front() == ' ' ? 1 : 0;
  std::size_t end = std::min(text.find_first_of(kWhite, start), text.size());
  if (end == 0) end = 1;  // white space alone
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

/// Every place of the pair becomes one id, from left to right.
void join(Ids& ids, Pair pair, std::int64_t id) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < ids.size(); ++kept) {
    const bool here = i + 1 < ids.size() && ids[i] == pair.first && ids[i + 1] == pair.second;
    ids[kept] = here ? id : ids[i];
    i += here ? 2 : 1;
  }
  ids.resize(kept);
}

/// The different words of a text, and which pairs they hold.
class Words {
 public:
  explicit Words(std::string_view text) {
    std::map<std::string_view, std::int64_t> counts;
    while (!text.empty()) ++counts[take_word(text)];
    for (const auto& [word, count] : counts) {
      words_.push_back({ids_of(word), count});
      count_pairs(words_.size() - 1, count);
    }
  }

  /// The most frequent pair that `fits`; none if no such pair comes twice.
  template <class F>
  std::optional<Pair> most_frequent(F fits) const {
    std::optional<Pair> best;
    std::int64_t most = 1;
    for (const auto& [pair, found] : pairs_)
      if (found.count > most && fits(pair)) {
        best = pair;
        most = found.count;
      }
    return best;
  }

  void join_all(Pair pair, std::int64_t id) {
    const std::set<std::size_t> where = pairs_[pair].words;
    for (const std::size_t w : where) {
      count_pairs(w, -words_[w].count);
      join(words_[w].ids, pair, id);
      count_pairs(w, words_[w].count);
    }
    pairs_.erase(pair);
  }

 private:
  struct Word {
    Ids ids;
    std::int64_t count;
  };
  struct Found {
    std::int64_t count = 0;
    std::set<std::size_t> words = {};  // those that have held it
  };

  /// Each pair that join() would find: in aaa the first a a, and not the one that overlaps it.
  void count_pairs(std::size_t w, std::int64_t count) {
    const Ids& ids = words_[w].ids;
    bool overlaps = false;
    for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
      overlaps = !overlaps && i > 0 && ids[i - 1] == ids[i] && ids[i] == ids[i + 1];
      if (overlaps) continue;
      Found& found = pairs_[{ids[i], ids[i + 1]}];
      found.count += count;
      found.words.insert(w);
    }
  }

  std::vector<Word> words_;
  std::map<Pair, Found> pairs_;
};

/// What may not be UTF-8, for people.
std::string readable(std::string_view bytes) {
  std::string shown;
  while (const auto offset = first_invalid_byte(bytes)) {
    shown.append(bytes.substr(0, *offset)).append("\xef\xbf\xbd");
    bytes.remove_prefix(*offset + 1);
  }
  return shown.append(bytes);
}

}  // namespace

std::vector<std::int64_t> ByteTokenizer::encode(std::string_view text) const {
  return ids_of(text);
}

std::string ByteTokenizer::decode(std::span<const std::int64_t> ids) const {
  std::string bytes;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    require_id(ids[i], i);
    bytes += static_cast<char>(ids[i]);
  }
  return readable(bytes);
}

BytePairTokenizer::BytePairTokenizer(std::vector<Pair> pairs) : pairs_(std::move(pairs)) {
  for (std::int64_t byte = 0; byte < kBytes; ++byte)
    bytes_.push_back(std::string(1, static_cast<char>(byte)));
  for (const Pair& pair : pairs_) {
    for (const std::int64_t id : {pair.first, pair.second})
      if (id < 0 || id >= size())
        throw ValueError(text("byte pairs: id ", size(), " stands for ", pair.first, " and ",
                              pair.second, ", which are not both earlier"));
    std::string bytes = bytes_[static_cast<std::size_t>(pair.first)] +
                        bytes_[static_cast<std::size_t>(pair.second)];
    if (bytes.size() > kLongestPiece)
      throw ValueError(text("byte pairs: id ", size(), " stands for ", bytes.size(),
                            " bytes; it may be ", kLongestPiece));
    if (!joined_.emplace(pair, size()).second)
      throw ValueError(text("byte pairs: ", pair.first, " and ", pair.second, " come twice"));
    bytes_.push_back(std::move(bytes));
  }
}

BytePairTokenizer BytePairTokenizer::of(std::string_view text, std::int64_t vocabulary) {
  if (vocabulary < kBytes)
    throw ValueError(heed::text("byte pairs: vocabulary = ", vocabulary, ": it must be at least ",
                                kBytes, ", the bytes"));
  require_utf8(text);
  Words words(text);
  std::vector<Pair> pairs;
  std::vector<std::size_t> lengths(kBytes, 1);
  const auto length = [&](Pair pair) {
    return lengths[static_cast<std::size_t>(pair.first)] +
           lengths[static_cast<std::size_t>(pair.second)];
  };
  while (std::ssize(lengths) < vocabulary) {
    const auto pair = words.most_frequent([&](Pair p) { return length(p) <= kLongestPiece; });
    if (!pair) break;
    words.join_all(*pair, std::ssize(lengths));
    pairs.push_back(*pair);
    lengths.push_back(length(*pair));
  }
  return BytePairTokenizer(std::move(pairs));
}

std::vector<std::int64_t> BytePairTokenizer::encode(std::string_view text) const {
  require_utf8(text);
  std::map<std::string_view, Ids> known;
  Ids all;
  while (!text.empty()) {
    const auto [place, is_new] = known.try_emplace(take_word(text));
    Ids& ids = place->second;
    if (is_new) ids = ids_of(place->first);
    while (is_new) {  // the earliest pair that is there
      auto first = joined_.end();
      for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
        const auto found = joined_.find({ids[i], ids[i + 1]});
        if (found != joined_.end() && (first == joined_.end() || found->second < first->second))
          first = found;
      }
      if (first == joined_.end()) break;
      join(ids, first->first, first->second);
    }
    all.insert(all.end(), ids.begin(), ids.end());
  }
  return all;
}

std::string BytePairTokenizer::decode(std::span<const std::int64_t> ids) const {
  std::string bytes;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    require_id(ids[i], i);
    bytes += bytes_[static_cast<std::size_t>(ids[i])];
  }
  return readable(bytes);
}

std::string BytePairTokenizer::save() const {
  std::string saved = "bpe:";
  for (const auto& [first, second] : pairs_) saved += written(first) + " " + written(second) + "\n";
  return saved;
}

BytePairTokenizer parse_byte_pairs(std::string_view saved) {
  const auto take_number = [&saved](char end) {
    constexpr std::size_t kMostDigits = 19;
    const std::size_t length = saved.find(end);
    if (length == std::string_view::npos || length > kMostDigits)
      throw ValueError("byte pairs: an id is cut off or too long");
    const std::string_view digits = saved.substr(0, length);
    const std::int64_t id = Whole{}.read("byte pairs: id", digits);
    if (written(id) != digits) throw ValueError(text("byte pairs: \"", digits, "\" is no id"));
    saved.remove_prefix(length + 1);
    return id;
  };
  std::vector<Pair> pairs;
  while (!saved.empty()) {
    const std::int64_t first = take_number(' ');
    pairs.emplace_back(first, take_number('\n'));
  }
  return BytePairTokenizer(std::move(pairs));
}

}  // namespace heed
