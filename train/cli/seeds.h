#pragma once

#include <heed/data/task.h>
#include <heed/train/cli/session.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace heed::cli {

/// The seeds of "1,2,3". Throws ValueError for what is no seed, and for one that comes twice.
std::vector<std::int64_t> parse_seeds(std::string_view written);

/// A number of one run after the other, and what they come to.
struct Spread {
  double median = 0, low = 0, high = 0;  ///< NaN if one of the numbers is
};
Spread spread_of(std::vector<double> values);

/// The same training once with each seed, in a run directory of its own, then the median and the
/// range of what they came to, the task's own figures among it. Returns the exit code: of an
/// interrupted run, after which there is no other, or of one whose check did not hold. Throws as
/// run_session does.
int run_seeds(const Settings& settings, const Task& task, const SessionOptions& options,
              const std::vector<std::int64_t>& seeds);

}  // namespace heed::cli
