#include <heed/autograd/engine.h>
#include <heed/autograd/ops/attention.h>
#include <heed/autograd/rng.h>
#include <heed/autograd/threads.h>
#include <heed/train/cli/bench.h>
#include <heed/train/cli/bench_peak.h>
#include <heed/train/cli/bench_table.h>
#include <heed/train/cli/bench_timing.h>
#include <heed/train/cli/threads.h>
#include <spdlog/fmt/fmt.h>

#include <functional>
#include <memory>

namespace heed::cli {
namespace {

constexpr std::int64_t kHeads = 4, kWidth = 128;  // D = 32

/// Forward and backward of causal attention on inputs of their own.
std::function<void()> attention_of(std::int64_t length) {
  Rng rng(static_cast<std::uint64_t>(length));
  std::vector<Tensor> inputs;
  for (int i = 0; i < 3; ++i) {
    inputs.push_back(normal({1, length, kWidth}, rng));
    inputs.back().requires_grad_();
  }
  const Tensor seed = normal({1, length, kWidth}, rng);
  return [inputs, seed] {
    const Tensor y = attention(inputs[0], inputs[1], inputs[2], {.heads = kHeads, .causal = true});
    grad(y, inputs, {.seed = seed});
  };
}

/// As those of a step: products of the forward, causal ones at half, times three.
double flops_of(std::int64_t length) {
  const auto t = static_cast<double>(length);
  return 3 * 2 * (2 * t * t * kWidth) / 2;
}

double bytes_of_gradients(std::int64_t length) {
  return 3. * sizeof(float) * static_cast<double>(length * kWidth);
}

}  // namespace

int bench_attention(const BenchAttention& arguments) {
  use_threads(arguments.threads);
  std::vector<std::function<void()>> works;
  std::vector<double> megabytes;
  for (const std::int64_t length : arguments.lengths) {
    works.push_back(attention_of(length));
    megabytes.push_back(1e-6 * (memory_of(works.back()) - bytes_of_gradients(length)));
  }
  const std::vector<Timings> timings = interleaved(works, arguments.seconds);
  const double peak = peak_gflops(threads());

  const BenchTable table({{"length", 8},
                          {"threads", 7},
                          {"min ms", 9},
                          {"median ms", 9},
                          {"GFLOP/s", 7},
                          {"of peak", 7},
                          {"extra MB", 8}},
                         arguments.json);
  for (std::size_t i = 0; i < works.size(); ++i) {
    const double gflops = 1e-6 * flops_of(arguments.lengths[i]) / timings[i].min_ms();
    table.row({fmt::to_string(arguments.lengths[i]), fmt::to_string(threads()),
               fmt::format("{:.4f}", timings[i].min_ms()),
               fmt::format("{:.4f}", timings[i].median_ms()), fmt::format("{:.1f}", gflops),
               fmt::format("{:.0f} %", 100 * gflops / peak), fmt::format("{:.1f}", megabytes[i])},
              {{"event", i + 1 < works.size() ? "attention" : "result"},
               {"length", arguments.lengths[i]},
               {"threads", std::int64_t{threads()}},
               {"min_ms", timings[i].min_ms()},
               {"median_ms", timings[i].median_ms()},
               {"gflops", gflops},
               {"share_of_peak", gflops / peak},
               {"extra_mb", megabytes[i]}});
  }
  return kOk;
}

}  // namespace heed::cli
