#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace heed {

/// A file that appears whole or not at all: written under another name in the same folder, synced,
/// and given its own name by `commit`. Whatever ends before that leaves what stood there before
/// untouched. Everything throws FileError naming the path and the system's reason.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);
  /// Removes what was not committed.
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
  /// Replaces the file of that name, if there is one.
  void commit();

 private:
  [[noreturn]] void fail(const char* action) const;

  std::filesystem::path path_, temporary_;
  int file_ = -1;
};

}  // namespace heed
