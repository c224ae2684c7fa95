#pragma once

#include <heed/autograd/memory.h>

#include <cstddef>
#include <cstdint>

namespace heed::kernels {

/// n elements with undefined values, from the cache of the thread that makes it.
template <class T>
class Buffer {
 public:
  explicit Buffer(std::int64_t n)
      : bytes_(static_cast<std::size_t>(n) * sizeof(T)), data_(static_cast<T*>(allocate(bytes_))) {}
  ~Buffer() { release(data_, bytes_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  T* data() const { return data_; }

 private:
  std::size_t bytes_;
  T* data_;
};

}  // namespace heed::kernels
