#include <heed/autograd/kernels/vector/kernels.h>

namespace heed::kernels {

template <>
const VectorKernels<float>& avx512_kernels() {
  return kKernels<float>;
}
template <>
const VectorKernels<double>& avx512_kernels() {
  return kKernels<double>;
}

}  // namespace heed::kernels
