// Every row of the op table under Google Benchmark, which has filters, repetitions and comparison
// of runs; `heed bench ops` measures the same.
#include <benchmark/benchmark.h>
#include <heed/train/cli/bench_ops.h>

#include <functional>
#include <string>

namespace heed {
namespace {

void time(benchmark::State& state, const std::function<void()>& work) {
  for (auto _ : state) work();
}

void add_rows() {
  for (const op_table::Row& row : op_table::rows()) {
    const cli::RowCalls calls = cli::calls_of(row);
    const auto add = [&](const char* direction, const std::function<void()>& work) {
      benchmark::RegisterBenchmark((row.declaration + "/" + direction).c_str(),
                                   [work](benchmark::State& state) { time(state, work); });
    };
    add("forward", calls.forward);
    if (row.order > 0) add("backward", calls.backward);
  }
}

}  // namespace
}  // namespace heed

int main(int argc, char** argv) {
  heed::add_rows();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
}
