#include <heed/autograd/storage.h>

#include <new>

namespace heed {

Ref<Storage> Storage::allocate(std::size_t bytes) {
  static_assert(sizeof(Storage) + kRoom <= kHeader);
  return Ref<Storage>::first(new (heed::allocate(kHeader + bytes)) Storage(bytes));
}

void Storage::drop() noexcept {
  if (!owners_.leave()) return;
  const std::size_t bytes = bytes_;
  this->~Storage();
  release(this, kHeader + bytes);
}

}  // namespace heed
