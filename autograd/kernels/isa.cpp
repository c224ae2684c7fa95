#include <heed/autograd/error.h>
#include <heed/autograd/kernels/isa.h>
#include <heed/autograd/kernels/vector_kernels.h>

#include <array>
#include <cstdlib>

namespace heed::kernels {
namespace {

constexpr std::array kAll{Isa::base, Isa::avx2, Isa::avx512};

bool has(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::avx2) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (isa == Isa::avx512)
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
#endif
  return isa == Isa::base;
}

Isa best() {
  Isa found = Isa::base;
  for (const Isa isa : kAll)
    if (has(isa)) found = isa;
  return found;
}

Isa chosen() {
  const char* value = std::getenv("HEED_ISA");
  if (!value) return best();
  for (const Isa isa : kAll)
    if (name(isa) == value) {
      if (has(isa)) return isa;
      throw ValueError(text("HEED_ISA = ", value, ": this CPU has at most ", name(best())));
    }
  throw ValueError(text("HEED_ISA = ", value, " must be base, avx2 or avx512"));
}

}  // namespace

std::string_view name(Isa isa) {
  switch (isa) {
    case Isa::avx2:
      return "avx2";
    case Isa::avx512:
      return "avx512";
    default:
      return "base";
  }
}

Isa isa() {
  static const Isa once = chosen();
  return once;
}

template <class T>
const VectorKernels<T>& vector_kernels() {
  static const VectorKernels<T>& table = [&]() -> const VectorKernels<T>& {
#if defined(__x86_64__)
    if (isa() == Isa::avx512) return avx512_kernels<T>();
    if (isa() == Isa::avx2) return avx2_kernels<T>();
#endif
    return base_kernels<T>();
  }();
  return table;
}

template const VectorKernels<float>& vector_kernels();
template const VectorKernels<double>& vector_kernels();

}  // namespace heed::kernels
