#include <heed/autograd/memory.h>

#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <new>

namespace heed {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kClasses = 4 * 64;

std::atomic<std::int64_t> bytes_alive{0}, asked_of_system{0};

// Note [Size classes] Four classes to a power of two, so that at most a fifth of a block of more
// than 256 bytes is unused.
struct SizeClass {
  std::size_t index;
  std::size_t bytes;
};

SizeClass size_class(std::size_t bytes) {
  if (bytes <= 4 * kAlignment) {
    const std::size_t blocks = bytes ? (bytes + kAlignment - 1) / kAlignment : 1;
    return {blocks - 1, blocks * kAlignment};
  }
  const auto power = static_cast<std::size_t>(std::bit_width(bytes - 1)) - 1;  // 2^power < bytes
  const std::size_t quarter = std::size_t{1} << (power - 2);
  const std::size_t quarters = (bytes + quarter - 1) / quarter;  // 5 to 8
  return {4 * power + quarters - 5, quarters * quarter};
}

bool caching() {
  static const bool on = [] {
    const char* value = std::getenv("HEED_CACHE");
    return !value || std::strcmp(value, "0") != 0;
  }();
  return on;
}

struct FreeBlock {
  FreeBlock* next;
};

void* system_allocate(std::size_t bytes) {
  asked_of_system.fetch_add(1, std::memory_order_relaxed);
  return ::operator new (bytes, std::align_val_t{kAlignment});
}
void system_release(void* block) { ::operator delete (block, std::align_val_t{kAlignment}); }

class Cache {
 public:
  Cache() { alive = true; }
  ~Cache() {
    clear();
    alive = false;
  }
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;

  FreeBlock*& operator[](std::size_t index) { return free_[index]; }
  void clear() {
    for (FreeBlock*& list : free_)
      while (list) system_release(std::exchange(list, list->next));
  }

  // A static tensor may be released after its thread's cache is gone.
  static thread_local bool alive;

 private:
  std::array<FreeBlock*, kClasses> free_{};
};

thread_local bool Cache::alive = false;
thread_local Cache cache;

}  // namespace

void empty_cache() noexcept {
  if (Cache::alive) cache.clear();
}

void* allocate(std::size_t bytes) {
  const SizeClass size = size_class(bytes);
  const auto take = [&]() -> void* {
    if (caching()) {
      FreeBlock*& list = cache[size.index];
      if (list) return std::exchange(list, list->next);
    }
    try {
      return system_allocate(size.bytes);
    } catch (const std::bad_alloc&) {
      empty_cache();  // what is kept for others may be what is missing here
      return system_allocate(size.bytes);
    }
  };
  void* block = take();
  bytes_alive.fetch_add(static_cast<std::int64_t>(size.bytes), std::memory_order_relaxed);
  return block;
}

void release(void* block, std::size_t bytes) noexcept {
  const SizeClass size = size_class(bytes);
  bytes_alive.fetch_sub(static_cast<std::int64_t>(size.bytes), std::memory_order_relaxed);
  if (!caching() || !Cache::alive) return system_release(block);
  FreeBlock*& list = cache[size.index];
  list = new (block) FreeBlock{list};
}

std::int64_t system_allocations() { return asked_of_system.load(std::memory_order_relaxed); }
std::int64_t live_bytes() { return bytes_alive.load(std::memory_order_relaxed); }

}  // namespace heed
