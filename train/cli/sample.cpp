#include <heed/autograd/error.h>
#include <heed/data/numbers.h>
#include <heed/train/cli/commands.h>
#include <heed/train/cli/output.h>
#include <heed/train/cli/saved_run.h>
#include <heed/train/cli/threads.h>
#include <heed/train/metrics.h>
#include <heed/train/sampling.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>

namespace heed::cli {
namespace {

struct SampleArguments {
  std::string run, prompt;
  std::optional<std::int64_t> tokens, top_k;
  std::optional<double> temperature;
  double top_p = 1, min_p = 0;
  bool greedy = false;
  std::int64_t seed = 1;
  bool json = false;
};

int sample(const SampleArguments& arguments) {
  const SavedRun run = load_run(arguments.run);
  const std::int64_t context = run.settings.context;
  const std::vector<std::int64_t> prompt = run.tokenizer->encode(arguments.prompt);
  const TaskInfo& info = find_task(run.settings.task);
  const bool of_text = info.open_ended;
  const std::int64_t to_the_end = std::max<std::int64_t>(context + 1 - std::ssize(prompt), 0);
  const std::int64_t answer = info.answer ? std::min(info.answer(prompt), to_the_end) : to_the_end;
  const bool chooses = arguments.top_k || arguments.top_p < 1 || arguments.min_p > 0;
  const double usual = of_text ? 0.8 : chooses ? 1 : 0;
  const SamplingOptions options{
      .temperature = arguments.greedy ? 0 : arguments.temperature.value_or(usual),
      .top_k = arguments.top_k,
      .top_p = arguments.top_p,
      .min_p = arguments.min_p};
  Rng rng = Rng(static_cast<std::uint64_t>(arguments.seed)).stream("sampling");

  const Generated made =
      generate(run.model, prompt, arguments.tokens.value_or(of_text ? 200 : answer), options, rng);
  std::string continued = run.tokenizer->decode(made.ids);
  const std::size_t end = info.end.empty() ? continued.npos : continued.find(info.end);
  if (std::ssize(prompt) > context)
    err.line(text("heed: the prompt has ", prompt.size(), " tokens; the model sees only the last ",
                  context));
  else if (made.forgotten > 0 && end == continued.npos)
    err.line(text("heed: the model sees only the last ", context,
                  " tokens; what came before is forgotten as it goes on"));
  continued = continued.substr(0, end);
  if (arguments.json)
    out.raw(json_line(
        {{"event", "result"}, {"prompt", arguments.prompt}, {"continuation", continued}}));
  else
    out.quote(arguments.prompt + std::string(run.tokenizer->gap()) + continued);
  return kOk;
}

}  // namespace

void add_sample(CLI::App& program, Action& action) {
  CLI::App* command = program.add_subcommand("sample", "let a trained model continue a prompt");
  command->footer(
      "On a terminal, control characters are shown as in \\x1b; a file or a pipe gets them as they "
      "are.\nBytes of a model of bytes that are no UTF-8 are shown as U+FFFD.");
  const auto arguments = std::make_shared<SampleArguments>();
  command->add_option("run", arguments->run, "a run, a folder of runs (its newest), a checkpoint")
      ->type_name("RUN")
      ->required();
  command->add_option("--prompt", arguments->prompt, "what to continue")
      ->type_name("TEXT")
      ->required();
  add_number(*command, "--tokens", Whole{}, arguments->tokens,
             "how many to add at most, 0 or more [a text: 200; else: to the end of the answer]");
  add_number(*command, "--temperature", Real{}, arguments->temperature,
             "0 for the likeliest, 1 as learnt, more for more variety [a text: 0.8; else: 0, or 1 "
             "with a limit below]");
  add_number(*command, "--top-k", Whole{1}, arguments->top_k,
             "choose among the k likeliest, 1 or more [all]");
  add_number(*command, "--top-p", Real{1}, arguments->top_p,
             "choose among the likeliest that together have this probability, above 0 to 1 [1]");
  add_number(*command, "--min-p", Real{1}, arguments->min_p,
             "choose among those that have this share of the likeliest's probability, 0 to 1 [0]");
  command->add_flag("--greedy", arguments->greedy, "always the likeliest: --temperature 0")
      ->excludes("--temperature", "--top-k", "--top-p", "--min-p");
  add_number(*command, "--seed", Whole{0, std::numeric_limits<std::int64_t>::max()},
             arguments->seed, "of the choices, any whole number from 0 on [1]");
  command->add_flag("--json", arguments->json, "one JSON object");
  command->callback([&action, arguments] {
    action = [arguments] {
      use_threads({});
      return sample(*arguments);
    };
  });
}

}  // namespace heed::cli
