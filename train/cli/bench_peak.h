#pragma once

#include <string_view>

namespace heed::cli {

/// The instructions that `peak_gflops` uses, the widest this CPU has: "avx512", "avx2" or "base".
std::string_view peak_instructions();

/// What so many threads reach together, in GFLOP/s of f32, in chains of multiply-adds on registers:
/// the ceiling of everything that reads memory too. The best of many short runs.
double peak_gflops(int threads);

}  // namespace heed::cli
