#pragma once

#include <string_view>

namespace heed::kernels {

/// Instruction sets for which there are vector kernels: what every x86-64 CPU has (on others: what
/// the compiler was told of), AVX2 with FMA (x86-64-v3), AVX-512 (x86-64-v4).
enum class Isa { base, avx2, avx512 };

/// As in HEED_ISA: "base", "avx2", "avx512".
std::string_view name(Isa isa);

/// The best one this CPU has or, if the environment says `HEED_ISA`, that one. Throws ValueError if
/// HEED_ISA names another, or one the CPU has not.
Isa isa();

}  // namespace heed::kernels
