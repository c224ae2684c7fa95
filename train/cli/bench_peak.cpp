#include <heed/train/cli/bench_peak.h>
#include <heed/train/cli/bench_timing.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <cstdint>
#include <latch>
#include <limits>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

namespace heed::cli {
namespace {

constexpr std::int64_t kRounds = 100'000;  // a millisecond or so
constexpr int kChains = 10;                // more than the multiply-adds that a core has under way
constexpr std::size_t kRuns = 40;

using Work = float (*)(float, float);

using Lanes4 [[gnu::vector_size(16)]] = float;
using Lanes8 [[gnu::vector_size(32)]] = float;
using Lanes16 [[gnu::vector_size(64)]] = float;

/// Every line of the loop is a chain of its own.
template <class Lanes>
[[gnu::always_inline]] inline float chains(float a, float b) {
  const Lanes one = Lanes{} + 1, x = one * a, y = one * b;
  Lanes l0 = one, l1 = l0 + one, l2 = l1 + one, l3 = l2 + one, l4 = l3 + one;
  Lanes l5 = l4 + one, l6 = l5 + one, l7 = l6 + one, l8 = l7 + one, l9 = l8 + one;
  for (std::int64_t i = 0; i < kRounds; ++i) {
    l0 = l0 * x + y;
    l1 = l1 * x + y;
    l2 = l2 * x + y;
    l3 = l3 * x + y;
    l4 = l4 * x + y;
    l5 = l5 * x + y;
    l6 = l6 * x + y;
    l7 = l7 * x + y;
    l8 = l8 * x + y;
    l9 = l9 * x + y;
  }
  const Lanes sum = l0 + l1 + l2 + l3 + l4 + l5 + l6 + l7 + l8 + l9;
  return sum[0];
}

struct Kernel {
  std::string_view name;
  Work work;
  double lanes;
};

float base(float a, float b) { return chains<Lanes4>(a, b); }

#ifdef __x86_64__
[[gnu::target("avx512f")]] float avx512(float a, float b) { return chains<Lanes16>(a, b); }
[[gnu::target("avx2,fma")]] float avx2(float a, float b) { return chains<Lanes8>(a, b); }

Kernel widest() {
  if (__builtin_cpu_supports("avx512f")) return {"avx512", avx512, 16};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {"avx2", avx2, 8};
  return {"base", base, 4};
}
#else
Kernel widest() { return {"base", base, 4}; }
#endif

}  // namespace

std::string_view peak_instructions() { return widest().name; }

double peak_gflops(int threads) {
  const Kernel kernel = widest();
  volatile float factor = 0.5F, term = 1, sink = 0;  // known to nobody; the chains settle at 2
  // Of each thread and run, when it began and ended: threads that share a core take turns, so a run
  // lasts from the first begin to the last end.
  struct Interval {
    double begin, end;
  };
  const Stopwatch watch;
  std::vector<std::array<Interval, kRuns>> taken(static_cast<std::size_t>(threads));
  std::optional<std::barrier<>> together;
  std::latch all_started(1);
  const auto run = [&](std::array<Interval, kRuns>& intervals) {
    all_started.wait();
    for (Interval& each : intervals) {
      together->arrive_and_wait();
      each.begin = watch.seconds();
      const float result = kernel.work(factor, term);
      each.end = watch.seconds();
      if (result < 0) sink = result;
    }
  };
  {
    std::vector<std::jthread> others;
    try {
      for (std::size_t i = 1; i < taken.size(); ++i)
        others.emplace_back([&run, &intervals = taken[i]] { run(intervals); });
    } catch (const std::system_error&) {  // the system gives no more
      taken.resize(others.size() + 1);
    }
    together.emplace(std::ssize(taken));
    all_started.count_down();
    run(taken[0]);
  }
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < kRuns; ++i) {
    Interval whole = taken[0][i];
    for (const auto& intervals : taken)
      whole = {std::min(whole.begin, intervals[i].begin), std::max(whole.end, intervals[i].end)};
    best = std::min(best, whole.end - whole.begin);
  }
  const double flops = 2 * kernel.lanes * kChains * static_cast<double>(kRounds);
  return 1e-9 * flops * static_cast<double>(taken.size()) / best;
}

}  // namespace heed::cli
