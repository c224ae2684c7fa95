#pragma once

#include <heed/autograd/memory.h>

#include <cstddef>
#include <cstdint>

namespace heed {

/// The bytes of a tensor, 64-byte aligned and shared by every handle on them, with a count of the
/// in-place changes made. Contents are undefined until written. In front of them is room for the
/// state of the tensor that is made with them, so that both are one block.
class Storage {
 public:
  static Ref<Storage> allocate(std::size_t bytes);

  static constexpr std::size_t kRoom = 112;
  void* room() { return this + 1; }
  std::byte* data() { return reinterpret_cast<std::byte*>(this) + kHeader; }
  std::size_t bytes() const { return bytes_; }
  std::uint32_t version() const { return version_; }
  void changed() { ++version_; }
  /// Whether nobody but the caller's one handle holds these bytes.
  bool single() const { return owners_.single(); }

  void retain() { owners_.enter(); }
  void drop() noexcept;

 private:
  static constexpr std::size_t kHeader = 128;

  explicit Storage(std::size_t bytes) : bytes_(bytes) {}

  std::size_t bytes_;
  std::uint32_t version_ = 0;
  Owners owners_;
};

}  // namespace heed
