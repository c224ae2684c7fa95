#pragma once

#include <cstdint>

namespace heed::kernels {

/// How many products of a batch make a chunk.
std::int64_t gemm_grain(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k);

/// c (m, n) = [c +] op(a) op(b), row-major with the given distances between rows; op transposes if
/// asked, so a is (m, k) or (k, m) and b (k, n) or (n, k).
template <class T>
void gemm(bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n, std::int64_t k,
          const T* a, std::int64_t a_stride, const T* b, std::int64_t b_stride, T* c,
          std::int64_t c_stride, bool accumulate);

extern template void gemm(bool, bool, std::int64_t, std::int64_t, std::int64_t, const float*,
                          std::int64_t, const float*, std::int64_t, float*, std::int64_t, bool);
extern template void gemm(bool, bool, std::int64_t, std::int64_t, std::int64_t, const double*,
                          std::int64_t, const double*, std::int64_t, double*, std::int64_t, bool);

}  // namespace heed::kernels
