#include "counting_new.h"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace heed {

std::atomic<long> allocations{0};
std::atomic<long> tensor_allocations{0};
std::atomic<long> tensor_bytes{0};
std::atomic<long> mallocs{0};
std::atomic<long> until_failure{-1};

namespace {

void* allocate_or_throw(std::size_t bytes, std::size_t alignment) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  const std::size_t whole = (bytes + alignment - 1) / alignment * alignment;
  if (void* block = std::aligned_alloc(alignment, whole ? whole : alignment)) return block;
  throw std::bad_alloc();
}

}  // namespace
}  // namespace heed

void* operator new(std::size_t bytes) {
  return heed::allocate_or_throw(bytes, alignof(std::max_align_t));
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  heed::tensor_allocations.fetch_add(1, std::memory_order_relaxed);
  heed::tensor_bytes.fetch_add(static_cast<long>(bytes), std::memory_order_relaxed);
  if (heed::until_failure >= 0 && heed::until_failure-- <= 0) {
    heed::until_failure = 0;
    throw std::bad_alloc();
  }
  return heed::allocate_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }
void operator delete(void* block, std::align_val_t) noexcept { std::free(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { std::free(block); }
