#include <heed/autograd/error.h>
#include <heed/data/text/corpus.h>
#include <heed/data/text/utf8.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <system_error>
#include <utility>

namespace heed {

std::string read_file(const std::string& path) {
  const auto unreadable = [&path] {
    return FileError(text(path, ": cannot be read: ", std::generic_category().message(errno)));
  };
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (std::filesystem::is_directory(status)) throw FileError(text(path, ": is a directory"));
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    throw FileError(text(path, ": is no regular file; it might never end"));
  std::ifstream file(path, std::ios::binary);
  if (!file) throw unreadable();
  std::string bytes;
  std::array<char, 1 << 16> piece;
  while (file) {
    file.read(piece.data(), std::ssize(piece));
    bytes.append(piece.data(), static_cast<std::size_t>(file.gcount()));
  }
  if (file.bad()) throw unreadable();
  if (bytes.empty()) throw FileError(text(path, ": is empty"));
  return bytes;
}

std::string content_of(const TaskOptions& options) {
  return options.content ? *options.content : read_file(options.file);
}

std::string clean_text(std::string_view bytes, std::string_view source) {
  if (const auto offset = first_invalid_byte(bytes))
    throw FileError(text(source, ", line ", 1 + std::ranges::count(bytes.substr(0, *offset), '\n'),
                         ": not UTF-8: the byte at offset ", *offset, " is not valid"));
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (bytes.starts_with(kByteOrderMark)) bytes.remove_prefix(kByteOrderMark.size());
  std::string clean;
  clean.reserve(bytes.size());
  for (std::size_t i = 0; i < bytes.size(); ++i)
    if (!bytes.substr(i).starts_with("\r\n")) clean += bytes[i];
  if (clean.empty()) throw FileError(text(source, ": has no text"));
  return clean;
}

Parts split_for_training(std::string_view text) {
  require_utf8(text);
  std::string_view rest = text;
  for (std::size_t left = count_characters(text) * 9 / 10; left > 0; --left) take_character(rest);
  const std::size_t middle = text.size() - rest.size();
  return {.training = text.substr(0, middle), .validation = text.substr(middle)};
}

std::vector<std::int64_t> encode_part(const Tokenizer& tokenizer, std::string_view text,
                                      std::string_view part, std::string_view source) {
  try {
    return tokenizer.encode(part);
  } catch (const ValueError&) {  // which knows of no lines
    std::int64_t line = 1 + std::count(text.begin(), part.begin(), '\n');
    for (; !part.empty(); ++line) {
      const std::string_view one = part.substr(0, std::min(part.find('\n'), part.size() - 1) + 1);
      part.remove_prefix(one.size());
      try {
        tokenizer.encode(one);
      } catch (const ValueError& error) {
        throw FileError(heed::text(source, ", line ", line, ": ", error.what()));
      }
    }
    throw;
  }
}

double entropy_of(std::span<const std::int64_t> ids) {
  std::map<std::int64_t, double> counts;
  for (const std::int64_t id : ids) ++counts[id];
  double entropy = 0;
  for (const auto& [id, n] : counts) {
    const double p = n / static_cast<double>(ids.size());
    entropy -= p * std::log(p);
  }
  return entropy;
}

Windows::Windows(std::vector<std::int64_t> ids, std::int64_t context, std::string_view part)
    : ids_(std::move(ids)), context_(context) {
  if (context < 1) throw ValueError(text("context = ", context, ": it must be at least 1"));
  if (starts() < 1)
    throw FileError(text(part, " has ", ids_.size(), " tokens; with context ", context,
                         " it needs more than ", context,
                         ": take a longer text, or a model of a smaller context"));
}

std::span<const std::int64_t> Windows::at(std::int64_t start) const {
  if (start < 0 || start >= starts())
    throw IndexError(text("window: start ", start, " is outside [0, ", starts(), ")"));
  return ids().subspan(static_cast<std::size_t>(start), static_cast<std::size_t>(context_ + 1));
}

std::int64_t Windows::tiles() const { return (std::ssize(ids_) - 2) / context_ + 1; }

Windows::Tile Windows::tile(std::int64_t index) const {
  if (index < 0 || index >= tiles())
    throw IndexError(text("window: tile ", index, " is outside [0, ", tiles(), ")"));
  const std::int64_t due = index * context_, start = std::min(due, starts() - 1);
  return {.start = start, .first = due - start};
}

}  // namespace heed
