#include <heed/autograd/error.h>
#include <heed/data/suggest.h>
#include <heed/data/text/utf8.h>
#include <heed/data/text/words.h>

#include <algorithm>
#include <utility>

namespace heed {

WordTokenizer::WordTokenizer(std::vector<std::string> words) : words_(std::move(words)) {
  if (words_.empty()) throw ValueError("vocabulary: it has no words");
  for (const std::string& word : words_) {
    if (word.empty() || word.find(' ') != std::string::npos)
      throw ValueError(text("vocabulary: \"", word, "\" is no word"));
    to_code_points(word);
    if (!ids_.emplace(word, std::ssize(ids_)).second)
      throw ValueError(text("vocabulary: \"", word, "\" comes twice"));
  }
}

std::vector<std::int64_t> WordTokenizer::encode(std::string_view text) const {
  std::vector<std::int64_t> ids;
  for (const std::string& word : split_words(text)) {
    if (word.empty()) continue;
    const auto found = ids_.find(word);
    if (found == ids_.end()) {
      const auto near = nearest_name(word, words_);
      throw ValueError(heed::text("\"", word, "\" at position ", ids.size(),
                                  " (the first is 0) is not in the vocabulary of ", size(),
                                  " words", near ? "; did you mean \"" + *near + "\"?" : ""));
    }
    ids.push_back(found->second);
  }
  return ids;
}

std::string WordTokenizer::decode(std::span<const std::int64_t> ids) const {
  std::string text;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    require_id(ids[i], i);
    if (i > 0) text += gap();
    text += words_[static_cast<std::size_t>(ids[i])];
  }
  return text;
}

std::string WordTokenizer::save() const {
  std::string saved = "words:";
  for (const std::string& word : words_) saved += (&word == &words_.front() ? "" : " ") + word;
  return saved;
}

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  while (true) {
    const std::size_t length = std::min(text.find(' '), text.size());
    words.emplace_back(text.substr(0, length));
    if (length == text.size()) return words;
    text.remove_prefix(length + 1);
  }
}

}  // namespace heed
