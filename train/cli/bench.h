#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heed::cli {

struct BenchStep {
  std::string model = "nanogpt-cpu";
  std::int64_t steps = 0;  ///< 0 for as many as the seconds allow
  double seconds = 3;
  std::string weights = {}, save_weights = {};
  bool profile = false;
  std::optional<std::string> threads = {};
  bool json = false;
};

struct BenchAttention {
  std::vector<std::int64_t> lengths = {64, 256, 1024, 4096};
  double seconds = 3;
  std::optional<std::string> threads = {};
  bool json = false;
};

struct BenchPeak {
  int threads = 1;
  bool json = false;
};

struct BenchOps {
  std::vector<std::string> names = {};  ///< all if none
  double seconds = 5;
  std::optional<std::string> threads = {};
  bool json = false;
};

/// Each measures, prints what it found, and returns the exit code.
int bench_step(const BenchStep& arguments);
int bench_attention(const BenchAttention& arguments);
int bench_ops(const BenchOps& arguments);

}  // namespace heed::cli
