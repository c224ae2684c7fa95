#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace heed {

/// A block of at least `bytes`, aligned to 64 bytes, contents undefined. Released blocks are kept
/// by size class for the next caller on the same thread, so that a training step asks nothing of
/// the system once it has run; `HEED_CACHE=0` in the environment turns the keeping off.
void* allocate(std::size_t bytes);
/// Gives back a block that `allocate(bytes)` returned.
void release(void* block, std::size_t bytes) noexcept;
/// Returns this thread's kept blocks to the system.
void empty_cache() noexcept;

/// Bytes handed out and not yet released, over all threads.
std::int64_t live_bytes();
/// Blocks asked of the system since the program started, over all threads: what the kept ones could
/// not serve.
std::int64_t system_allocations();
/// Nodes of the graph alive, leaves included, over all threads.
std::int64_t live_nodes();

namespace detail {
/// Adds to the nodes alive.
void count_nodes(std::int64_t more) noexcept;
}  // namespace detail

/// Standard allocator over `allocate`, for the containers on an op's path.
template <class T>
struct CacheAllocator {
  using value_type = T;
  CacheAllocator() = default;
  template <class U>
  CacheAllocator(const CacheAllocator<U>&) {}
  T* allocate(std::size_t n) { return static_cast<T*>(heed::allocate(n * sizeof(T))); }
  void deallocate(T* p, std::size_t n) noexcept { heed::release(p, n * sizeof(T)); }
  friend bool operator==(const CacheAllocator&, const CacheAllocator&) { return true; }
};

/// A class whose objects lie each in a block of `allocate`.
struct InBlock {
  static void* operator new(std::size_t bytes) { return allocate(bytes); }
  static void operator delete(void* block, std::size_t bytes) { release(block, bytes); }
};

/// Owning pointer to an object that counts its owners itself (`retain`, `drop`), from one on.
template <class T>
class Ref {
 public:
  Ref() = default;
  /// One more owner.
  explicit Ref(T* object) : object_(object) {
    if (object_) object_->retain();
  }
  /// The owner that a new object is counted with.
  static Ref first(T* object) {
    Ref owner;
    owner.object_ = object;
    return owner;
  }
  Ref(const Ref& other) : Ref(other.object_) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_) object_->drop();
  }

  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }
  friend bool operator==(const Ref&, const Ref&) = default;

 private:
  T* object_ = nullptr;
};

/// The count of owners, one to begin with. `leave` is true for the last one; nobody can join it any
/// more, so it is spared the locked instruction.
class Owners {
 public:
  void enter() { count_.fetch_add(1, std::memory_order_relaxed); }
  bool leave() { return single() || count_.fetch_sub(1, std::memory_order_acq_rel) == 1; }
  bool single() const { return count_.load(std::memory_order_acquire) == 1; }

 private:
  std::atomic<std::uint32_t> count_{1};
};

}  // namespace heed
