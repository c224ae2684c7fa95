#pragma once

#include <heed/autograd/threads.h>
#include <heed/data/numbers.h>

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

namespace heed::cli {

inline constexpr Whole kThreads{1, kMaxThreads};

/// The flag --threads.
void add_threads(CLI::App& command, std::optional<std::string>& asked);

/// Shares the work among as many threads as were asked for, else as HEED_THREADS says. Throws
/// ValueError where that is no number of threads.
void use_threads(const std::optional<std::string>& asked);

}  // namespace heed::cli
