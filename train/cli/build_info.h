#pragma once

#include <heed/train/metrics.h>

#include <string>

namespace heed::cli {

std::string version();

/// What this program was built from and for: version, compiler, flags, isa, threads.
Fields build_info();

/// As the [build] section of a config file.
std::string build_section();

}  // namespace heed::cli
