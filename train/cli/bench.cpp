#include <heed/autograd/error.h>
#include <heed/autograd/threads.h>
#include <heed/data/numbers.h>
#include <heed/train/cli/bench.h>
#include <heed/train/cli/bench_model.h>
#include <heed/train/cli/bench_peak.h>
#include <heed/train/cli/bench_table.h>
#include <heed/train/cli/commands.h>
#include <heed/train/cli/threads.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <thread>

namespace heed::cli {
namespace {

constexpr Whole kLength{1, 65536};
constexpr Real kSeconds{3600};

constexpr const char* kSteps =
    "A step is forward, cross-entropy, backward, clipping at 1.0 and AdamW, in f32; its batch is\n"
    "made before the clock starts. GELU is erf's, norms come first, the head has no bias, there "
    "is\n"
    "no dropout, and every target counts. After 5 steps to warm up, the least and the median of\n"
    "many are given, and for the least:\n"
    "  gflops         2mnk for each product of the forward, causal attention at half, times three\n"
    "  share_of_peak  of what bench peak gives for as many threads\n"
    "  peak_mb        the most memory the process has held\n"
    "  allocations    blocks that the last step asked of the system; tensors, nodes and gradients\n"
    "                 come from a cache, and this counts what it had to ask for";
constexpr const char* kAttention =
    "On one row, 4 heads of 32 channels, causal, in f32. extra_mb is the most memory that forward\n"
    "and backward take beyond q, k, v and their gradients, the output included; gflops as in\n"
    "bench step.";
constexpr const char* kPeak =
    "Multiply-adds on vector registers, on one thread and on several at once: what nothing that\n"
    "reads memory exceeds. The best of 40 runs of a millisecond.";
constexpr const char* kOps =
    "Each row of the table behind docs/ops.md, at the sizes of its first call, which are small:\n"
    "mostly what it costs to call an op at all. forward records; backward is one sweep.";

/// `heed bench NAME` with arguments of its own, carried out by `run`.
template <class Arguments>
CLI::App* add(CLI::App& bench, Action& action, const std::string& name, const std::string& help,
              const std::string& footer, const std::shared_ptr<Arguments>& arguments,
              int (*run)(const Arguments&)) {
  CLI::App* command = bench.add_subcommand(name, help);
  command->footer(footer);
  command->add_flag("--json", arguments->json, "one JSON object a line, the result last");
  command->callback(
      [&action, arguments, run] { action = [arguments, run] { return run(*arguments); }; });
  return command;
}

void add_seconds(CLI::App* command, double& seconds) {
  add_number(*command, "--seconds", kSeconds, seconds,
             fmt::format("how long to measure, in all [{}]", seconds));
}

void add_step(CLI::App& bench, Action& action) {
  const auto arguments = std::make_shared<BenchStep>();
  CLI::App* command = add(bench, action, "step", "a whole training step of a small model", kSteps,
                          arguments, bench_step);
  std::string models;
  for (const BenchModel& model : bench_models()) {
    const TransformerConfig& config = model.config;
    models += fmt::format("\n{}: V{} T{} B{} L{} H{} d{}", model.name, config.vocabulary,
                          config.context, model.rows, config.layers, config.heads, config.d_model);
  }
  command->add_option("--model", arguments->model, "which [" + arguments->model + "]" + models)
      ->type_name("NAME");
  add_threads(*command, arguments->threads);
  add_number(*command, "--steps", Whole{1}, arguments->steps,
             "how many to time [as many as the seconds allow]");
  add_seconds(command, arguments->seconds);
  command->add_option("--weights", arguments->weights, "start from these, of a safetensors file")
      ->type_name("FILE");
  command->add_option("--save-weights", arguments->save_weights, "write those of the start")
      ->type_name("FILE");
  command->add_flag("--profile", arguments->profile,
                    "afterwards, as many steps once more, timed op by op");
}

void add_attention(CLI::App& bench, Action& action) {
  const auto arguments = std::make_shared<BenchAttention>();
  CLI::App* command = add(bench, action, "attention", "attention alone, forward and backward",
                          kAttention, arguments, bench_attention);
  command
      ->add_option_function<std::vector<std::string>>(
          "--lengths",
          [arguments](const std::vector<std::string>& written) {
            arguments->lengths.clear();
            for (const std::string& each : written)
              arguments->lengths.push_back(kLength.read("--lengths", each));
          },
          "of the rows, with commas between [64,256,1024,4096]")
      ->delimiter(',')
      ->type_name("T,T,...");
  add_threads(*command, arguments->threads);
  add_seconds(command, arguments->seconds);
}

int report_peak(const BenchPeak& arguments) {
  const BenchTable table({{"instructions", 12}, {"threads", 7}, {"GFLOP/s", 8}}, arguments.json);
  const std::string instructions(peak_instructions());
  std::vector<int> counts = {1};
  if (arguments.threads > 1) counts.push_back(arguments.threads);
  for (const int threads : counts) {
    const double gflops = peak_gflops(threads);
    table.row({instructions, fmt::to_string(threads), fmt::format("{:.1f}", gflops)},
              {{"event", threads == counts.back() ? "result" : "peak"},
               {"instructions", instructions},
               {"threads", std::int64_t{threads}},
               {"gflops", gflops}});
  }
  return kOk;
}

void add_peak(CLI::App& bench, Action& action) {
  const auto arguments = std::make_shared<BenchPeak>();
  arguments->threads =
      std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, kMaxThreads);
  CLI::App* command = add(bench, action, "peak", "what the cores can do at most, in f32", kPeak,
                          arguments, report_peak);
  command
      ->add_option_function<std::string>(
          "--threads",
          [arguments](const std::string& written) {
            arguments->threads = static_cast<int>(kThreads.read("--threads", written));
          },
          fmt::format("besides one: {} [the cores there are, {}]", kThreads.range(),
                      arguments->threads))
      ->type_name("N");
}

void add_ops(CLI::App& bench, Action& action) {
  const auto arguments = std::make_shared<BenchOps>();
  CLI::App* command =
      add(bench, action, "ops", "every op, forward and backward", kOps, arguments, bench_ops);
  command->add_option("names", arguments->names, "only these")->type_name("OP");
  add_threads(*command, arguments->threads);
  add_seconds(command, arguments->seconds);
}

}  // namespace

void add_bench(CLI::App& program, Action& action) {
  CLI::App* bench = program.add_subcommand("bench", "how fast training is on this machine");
  bench->require_subcommand(1);
  add_step(*bench, action);
  add_attention(*bench, action);
  add_ops(*bench, action);
  add_peak(*bench, action);
}

}  // namespace heed::cli
