#pragma once

#include <string_view>

namespace heed {

/// Instruction sets for which there are kernels: what every x86-64 CPU has (on other CPUs, what the
/// compiler was told of), AVX2 with FMA (x86-64-v3), AVX-512 (x86-64-v4). Each holds those before.
enum class Isa { base, avx2, avx512 };

/// As in HEED_ISA: "base", "avx2", "avx512".
std::string_view name(Isa isa);

/// The one in use: what HEED_ISA in the environment says, or else the best that this CPU has.
/// Throws as choose_isa.
Isa isa();

namespace detail {
/// The one that `asked` names, or `best` if it is null or empty. Throws ValueError if it names no
/// instruction set, or one beyond `best`.
Isa choose_isa(const char* asked, Isa best);
}  // namespace detail

}  // namespace heed
