#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace heed::cli {

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// How long each of several runs of the same took.
class Timings {
 public:
  void add(double seconds) { seconds_.push_back(seconds); }
  std::int64_t count() const { return static_cast<std::int64_t>(seconds_.size()); }
  /// In milliseconds. The least is what the machine can do, free of what else it did meanwhile.
  double min_ms() const;
  double median_ms() const;

 private:
  std::vector<double> seconds_;
};

/// Times each of `works` in turn, round after round for so many seconds, at least one round: what
/// else the machine does falls on all alike. The first call of each is not counted. What is shorter
/// than the clock can tell is repeated, and counts as the mean of the repetitions.
std::vector<Timings> interleaved(std::span<const std::function<void()>> works, double seconds);

/// The most memory the process has held, in bytes; NaN where the system does not say.
double peak_memory();
/// The most memory that `work` takes while it runs, in bytes, beyond what is held before. Cached
/// blocks are given back first. NaN where the system does not say.
double memory_of(const std::function<void()>& work);

}  // namespace heed::cli
