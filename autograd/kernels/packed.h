#pragma once

#include <heed/autograd/kernels/buffer.h>
#include <heed/autograd/kernels/parallel.h>
#include <heed/autograd/kernels/vector_kernels.h>

#include <cstdint>

namespace heed::kernels {

/// Rows of b in a block: a panel of them stays in the second-level cache while the rows of a pass.
inline constexpr std::int64_t kDepth = 256;

/// The right operand b (k, n) of a product in the order in which it is read.
template <class T>
class Packed {
 public:
  Packed(std::int64_t k, std::int64_t n, Strided<T> b, std::int64_t depth = kDepth)
      : k_(k), n_(n), depth_(depth), buffer_(as_it_is(n, b) ? 0 : k * whole_vectors(n)) {
    data_ = as_it_is(n, b) ? b.data : buffer_.data();
    if (data_ == b.data) return;
    const std::int64_t panel = kernels_.panel;
    const std::int64_t grain = ceil_div(grain_of(n, k), panel) * panel;
    parallel_for(n, grain, [&](std::int64_t begin, std::int64_t end) {
      kernels_.pack(k, n, b, depth, begin, end, buffer_.data());
    });
  }

  /// The columns [begin, end) of c (m, n) = start + a b.
  void multiply(std::int64_t m, Strided<T> a, std::int64_t begin, std::int64_t end, Rows<T> c,
                Start<T> start) const {
    kernels_.multiply_packed(m, n_, k_, a, data_, depth_, begin, end, c, start);
  }
  /// All of c (m, n) = start + a b.
  void multiply(std::int64_t m, Strided<T> a, Rows<T> c, Start<T> start = {}) const {
    multiply(m, a, 0, n_, c, start);
  }

 private:
  bool as_it_is(std::int64_t n, Strided<T> b) const {
    return b.column == 1 && b.row == n && n <= kernels_.panel && n % kernels_.width == 0;
  }
  std::int64_t whole_vectors(std::int64_t n) const {
    return ceil_div(n, kernels_.width) * kernels_.width;
  }

  const VectorKernels<T>& kernels_ = vector_kernels<T>();
  std::int64_t k_, n_, depth_;
  Buffer<T> buffer_;
  const T* data_;
};

}  // namespace heed::kernels
