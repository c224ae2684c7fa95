#include <heed/autograd/kernels/vector/kernels.h>

namespace heed::kernels {

template <>
const VectorKernels<float>& base_kernels() {
  return kKernels<float>;
}
template <>
const VectorKernels<double>& base_kernels() {
  return kKernels<double>;
}

}  // namespace heed::kernels
