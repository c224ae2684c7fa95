#include <heed/autograd/isa.h>
#include <heed/autograd/kernels/vector_kernels.h>

namespace heed::kernels {

template <class T>
const VectorKernels<T>& vector_kernels(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::avx512) return avx512_kernels<T>();
  if (isa == Isa::avx2) return avx2_kernels<T>();
#endif
  return base_kernels<T>();
}

template <class T>
const VectorKernels<T>& vector_kernels() {
  static const VectorKernels<T>& table = vector_kernels<T>(isa());
  return table;
}

template const VectorKernels<float>& vector_kernels(Isa);
template const VectorKernels<double>& vector_kernels(Isa);
template const VectorKernels<float>& vector_kernels();
template const VectorKernels<double>& vector_kernels();

}  // namespace heed::kernels
