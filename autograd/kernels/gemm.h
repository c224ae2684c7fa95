#pragma once

#include <cstdint>

namespace heed::kernels {

/// How many products of a batch make a chunk.
std::int64_t gemm_grain(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k);

/// c (m, n) = [bias +] op(a) op(b), all dense and row-major; op transposes if asked, so a is (m, k)
/// or (k, m) and b (k, n) or (n, k). `bias` is a row of n elements, or null.
template <class T>
void gemm(bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n, std::int64_t k,
          const T* a, const T* b, T* c, const T* bias = nullptr);

extern template void gemm(bool, bool, std::int64_t, std::int64_t, std::int64_t, const float*,
                          const float*, float*, const float*);
extern template void gemm(bool, bool, std::int64_t, std::int64_t, std::int64_t, const double*,
                          const double*, double*, const double*);

}  // namespace heed::kernels
