#include <heed/autograd/memory.h>
#include <heed/train/cli/bench_timing.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace heed::cli {
namespace {

constexpr double kShortest = 20e-6;  // of a run: a thousand times what reading the clock takes
constexpr double kSlice = 1e-3;      // of one work within a round

double seconds_of(const std::function<void()>& work, std::int64_t repetitions) {
  const Stopwatch watch;
  for (std::int64_t i = 0; i < repetitions; ++i) work();
  return watch.seconds();
}

/// How often to repeat `work` in a run.
std::int64_t repetitions_of(const std::function<void()>& work) {
  work();
  std::int64_t repetitions = 1;
  while (seconds_of(work, repetitions) < kShortest) repetitions *= 2;
  return repetitions;
}

/// A line of /proc/self/status, "VmHWM:   1234 kB", in bytes.
double status(std::string_view name) {
  std::ifstream file("/proc/self/status");
  std::string word;
  while (file >> word)
    if (double kilobytes = 0; word == name && file >> kilobytes) return kilobytes * 1024;
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

double Timings::min_ms() const { return 1e3 * *std::ranges::min_element(seconds_); }

double Timings::median_ms() const {
  std::vector<double> sorted = seconds_;
  std::ranges::sort(sorted);
  return 1e3 * (sorted[sorted.size() / 2] + sorted[(sorted.size() - 1) / 2]) / 2;
}

std::vector<Timings> interleaved(std::span<const std::function<void()>> works, double seconds) {
  std::vector<std::int64_t> repetitions;
  for (const auto& work : works) repetitions.push_back(repetitions_of(work));
  std::vector<Timings> timings(works.size());
  const Stopwatch all;
  do {
    for (std::size_t i = 0; i < works.size(); ++i) {
      const Stopwatch slice;
      do {
        timings[i].add(seconds_of(works[i], repetitions[i]) / static_cast<double>(repetitions[i]));
      } while (slice.seconds() < kSlice);
    }
  } while (all.seconds() < seconds);
  return timings;
}

double peak_memory() { return status("VmHWM:"); }

double memory_of(const std::function<void()>& work) {
  empty_cache();
#ifdef __GLIBC__
  malloc_trim(0);
#endif
  std::ofstream peak("/proc/self/clear_refs");
  if (!(peak << 5 << std::flush)) return NAN;  // now the peak starts anew
  const double before = status("VmRSS:");
  work();
  return peak_memory() - before;
}

}  // namespace heed::cli
