// Counts in front of glibc's allocator. Not for sanitizers: they have one of their own.
#include <cerrno>
#include <cstddef>

#include "counting_new.h"

extern "C" {

void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* block, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);

void* malloc(std::size_t bytes) noexcept {
  ++heed::mallocs;
  return __libc_malloc(bytes);
}
void* calloc(std::size_t count, std::size_t bytes) noexcept {
  ++heed::mallocs;
  return __libc_calloc(count, bytes);
}
void* realloc(void* block, std::size_t bytes) noexcept {
  ++heed::mallocs;
  return __libc_realloc(block, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  ++heed::mallocs;
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) noexcept {
  ++heed::mallocs;
  *block = __libc_memalign(alignment, bytes);
  return *block ? 0 : ENOMEM;
}

}  // extern "C"
