// What an op costs beside its arithmetic: the time of one op in a long chain, in each of its four
// phases.
//
//     engine_bench --benchmark_filter='add_number/1/' --benchmark_repetitions=9
//
// prints the least of the repetitions too. `valgrind --tool=callgrind
// --toggle-collect='*::forward_of*'` counts the instructions of one phase, which no neighbour on
// the machine disturbs.
#include <benchmark/benchmark.h>
#include <heed/autograd/autograd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace {

using heed::Tensor;

constexpr int kOps = 512;

/// One op of a chain: from the value so far, and a constant or bias of one element or of all.
using Step = Tensor (*)(const Tensor& x, const Tensor& one, const Tensor& all);

struct Chain {
  const char* name;
  Step step;
};

const Chain chains[] = {
    {"add_number", [](const Tensor& x, const Tensor&, const Tensor&) { return x + 1.0; }},
    {"multiply_number", [](const Tensor& x, const Tensor&, const Tensor&) { return x * 1.5; }},
    {"add", [](const Tensor& x, const Tensor&, const Tensor& all) { return x + all; }},
    {"add_bias", [](const Tensor& x, const Tensor& one, const Tensor&) { return x + one; }},
    {"multiply", [](const Tensor& x, const Tensor&, const Tensor& all) { return x * all; }},
    {"residual", [](const Tensor& x, const Tensor&, const Tensor&) { return x + x * 0.5; }},
    {"reshape",
     [](const Tensor& x, const Tensor&, const Tensor&) { return reshape(x, x.shape()); }},
};

/// The operands of a chain of n elements.
struct Operands {
  Tensor x, one, all, seed;
  explicit Operands(std::int64_t n)
      : x(heed::ones({2, n / 2 ? n / 2 : 1}).requires_grad_()),
        one(heed::zeros({1}).requires_grad_()),
        all(heed::ones(x.shape()).requires_grad_()),
        seed(heed::ones(x.shape())) {}
};

[[gnu::noinline]] Tensor forward_of(const Chain& chain, const Operands& on) {
  Tensor y = on.x;
  for (int i = 0; i < kOps; ++i) y = chain.step(y, on.one, on.all);
  return y;
}

[[gnu::noinline]] void backward_of(const Tensor& y, const Operands& on) {
  backward(y, {.seed = on.seed});
}

[[gnu::noinline]] void destruction_of(Tensor& y) { y = {}; }

enum class Phase { forward, unrecorded, backward, destruction };

void run(benchmark::State& state, const Chain& chain, Phase phase, std::int64_t n) {
  Operands on(n);
  const auto timed = [&](bool wanted, auto&& what) {
    const auto start = std::chrono::steady_clock::now();
    what();
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    if (wanted) state.SetIterationTime(time.count());
  };
  for ([[maybe_unused]] auto each : state) {
    if (phase == Phase::unrecorded) {
      const heed::NoGrad quiet;
      timed(true, [&] { benchmark::DoNotOptimize(forward_of(chain, on)); });
      continue;
    }
    Tensor y;
    timed(phase == Phase::forward, [&] { y = forward_of(chain, on); });
    timed(phase == Phase::backward, [&] { backward_of(y, on); });
    timed(phase == Phase::destruction, [&] { destruction_of(y); });
  }
  using benchmark::Counter;
  state.counters["op"] = Counter(kOps, Counter::kIsIterationInvariantRate | Counter::kInvert);
}

double least(const std::vector<double>& values) { return *std::ranges::min_element(values); }

}  // namespace

int main(int argc, char** argv) {
  struct Named {
    const char* name;
    Phase phase;
  };
  for (const Chain& chain : chains)
    for (const std::int64_t n : {2, 16})
      for (const auto& [name, phase] :
           {Named{"forward", Phase::forward}, Named{"unrecorded", Phase::unrecorded},
            Named{"backward", Phase::backward}, Named{"destruction", Phase::destruction}}) {
        const std::string title = std::string(chain.name) + '/' + std::to_string(n) + '/' + name;
        benchmark::RegisterBenchmark(
            title.c_str(),
            [&chain, n, p = phase](benchmark::State& state) { run(state, chain, p, n); })
            ->UseManualTime()
            ->Unit(benchmark::kMicrosecond)
            ->ComputeStatistics("least", least);
      }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
}
