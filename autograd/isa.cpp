#include <heed/autograd/error.h>
#include <heed/autograd/isa.h>

#include <cstdlib>

namespace heed {
namespace {

/// Of this CPU; each instruction set holds those before it.
Isa best() {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return Isa::base;
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl");
  return avx512 ? Isa::avx512 : Isa::avx2;
#else
  return Isa::base;
#endif
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

Isa detail::choose_isa(const char* asked, Isa best) {
  if (!asked || !*asked) return best;
  for (const Isa isa : {Isa::base, Isa::avx2, Isa::avx512})
    if (name(isa) == asked) {
      if (isa <= best) return isa;
      throw ValueError(text("HEED_ISA = ", asked, ": this CPU has at most ", name(best)));
    }
  throw ValueError(text("HEED_ISA = ", asked, " must be base, avx2 or avx512"));
}

Isa isa() {
  static const Isa once = detail::choose_isa(std::getenv("HEED_ISA"), best());
  return once;
}

}  // namespace heed
