// heed bench from outside: what it says of its measurements, not what they are.
#include <gmock/gmock.h>
#include <heed/autograd/ops/loss.h>
#include <heed/train/checkpoint.h>
#include <heed/train/cli/bench_model.h>

#include <filesystem>
#include <set>
#include <sstream>

#include "cli_support.h"
#include "pseudo_terminal.h"
#include "screen.h"

namespace heed {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Le;
using testing::MatchesRegex;
using testing::ResultOf;
using testing::StartsWith;

std::vector<std::string> bench(std::vector<std::string> words) {
  words.insert(words.begin(), "bench");
  return words;
}

std::vector<std::string> three_steps(std::vector<std::string> more = {}) {
  std::vector<std::string> words = bench({"step", "--model", "tiny", "--steps", "3"});
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(BenchStep, GivesEveryFigure) {
  const Outcome found = run_heed(three_steps({"--json", "--threads", "2"}));
  ASSERT_EQ(found.code, 0) << found.err;
  const auto lines = json_lines(found.out);
  ASSERT_EQ(lines.size(), 1u);
  const nlohmann::json& result = lines.front();
  EXPECT_EQ(result["event"], "result");
  EXPECT_EQ(result["model"], "tiny");
  EXPECT_EQ(result["threads"], 2);
  EXPECT_EQ(result["steps"], 8);  // five of them to warm up
  for (const char* name : {"min_ms", "median_ms", "tokens_per_s", "gflops", "share_of_peak",
                           "peak_mb", "cpu_over_wall", "first_loss", "last_loss"})
    EXPECT_GT(result[name].get<double>(), 0) << name;
  EXPECT_LE(result["min_ms"], result["median_ms"]);
  EXPECT_LT(result["share_of_peak"], 1);
  EXPECT_LT(result["last_loss"], result["first_loss"]);
  const double seconds = 1e-3 * result["min_ms"].get<double>();
  EXPECT_NEAR(result["tokens_per_s"].get<double>() * seconds, 256, 1e-6);
  EXPECT_NEAR(result["gflops"].get<double>() * seconds, 1e-9 * 20'447'232, 1e-9);
}

// The cache is what a warm step asks instead; without it, every block comes from the system.
TEST(BenchStep, CountsWhatAStepAsksOfTheSystem) {
  const auto allocations = [](const char* cache) {
    const Outcome found =
        run_heed(three_steps({"--json"}), {.environment = {{"HEED_CACHE", cache}}});
    return last_json(found.out)["allocations"].get<std::int64_t>();
  };
  EXPECT_EQ(allocations("1"), 0);
  EXPECT_GT(allocations("0"), 100);
}

TEST(BenchStep, IsTheSameTrainingOnTheSameWeights) {
  const std::filesystem::path folder = testing::TempDir() + "heed_bench";
  std::filesystem::create_directories(folder);
  const std::string file = (folder / "tiny.safetensors").string();
  const auto losses = [](const Outcome& found) {
    const auto result = last_json(found.out);
    return std::pair(result["first_loss"].get<double>(), result["last_loss"].get<double>());
  };
  const auto first = losses(run_heed(three_steps({"--json", "--save-weights", file})));
  EXPECT_EQ(losses(run_heed(three_steps({"--json", "--weights", file, "--threads", "2"}))), first);

  const cli::BenchModel& model = cli::bench_model("tiny");
  Rng rng(1);
  const Transformer transformer(model.config, rng);
  load_checkpoint(file, named_parameters(transformer));
  const Batch batch = cli::bench_batch(model, 0);
  EXPECT_NEAR(cross_entropy(transformer(batch.inputs), batch.targets).item(), first.first, 1e-6);

  const Outcome absent = run_heed(three_steps({"--weights", file + "?"}));
  EXPECT_EQ(absent.code, 3);
  EXPECT_THAT(absent.err, HasSubstr("tiny.safetensors?"));
  EXPECT_EQ(run_heed(three_steps({"--save-weights", (folder / "none" / "x").string()})).code, 1);
  std::filesystem::remove_all(folder);
}

TEST(BenchStep, ProfilesEveryPartOfAStep) {
  const auto lines = json_lines(run_heed(three_steps({"--json", "--profile"})).out);
  EXPECT_EQ(lines.back()["event"], "result");
  double sum = 0, shares = 0, whole = 0;
  std::vector<std::string> parts;
  for (const auto& line : lines) {
    if (line["event"] != "profile") continue;
    parts.push_back(line["part"]);
    if (parts.back() == "the step") {
      whole = line["ms"];
      continue;
    }
    sum += line["ms"].get<double>();
    shares += line["share"].get<double>();
    if (!line.contains("calls")) continue;
    EXPECT_GT(line["calls"], 0);
    EXPECT_NEAR(line["forward_ms"].get<double>() + line["backward_ms"].get<double>(),
                line["ms"].get<double>(), 1e-9);
  }
  EXPECT_THAT(parts, AllOf(Contains("linear"), Contains("layer_norm"), Contains("cross_entropy"),
                           Contains("clip_grad_norm"), Contains("AdamW"), Contains("between ops")));
  EXPECT_GT(whole, 0);
  EXPECT_NEAR(sum, whole, 1e-6 * whole);
  EXPECT_NEAR(shares, 1, 1e-6);
}

TEST(BenchModel, CountsTheProductsOfAStep) {
  // 768 tokens; 4 layers of 12 C C and, on average, T keys; a head of 65 ids. Times 2, times 3.
  EXPECT_DOUBLE_EQ(cli::flops_of_step(cli::bench_model("nanogpt-cpu")),
                   6. * 768 * (4 * (12 * 128 * 128 + 64 * 128) + 65 * 128));
}

TEST(BenchModel, BatchesAreNewAndLearnable) {
  const cli::BenchModel& model = cli::bench_model("nanogpt-cpu");
  const Batch first = cli::bench_batch(model, 0), second = cli::bench_batch(model, 1);
  EXPECT_NE(first.inputs.to_vector(), second.inputs.to_vector());
  EXPECT_EQ(first.targets.shape(), (Shape{12, 64}));
  const auto inputs = first.inputs.to_vector(), targets = first.targets.to_vector();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    EXPECT_LT((targets[i] - 5 * inputs[i] % 65 + 65) % 65, 4);
    if (i % 64 == 63) continue;  // the last of a row
    EXPECT_EQ(inputs[i + 1], targets[i]);
  }
}

TEST(BenchAttention, GivesALineForEachLength) {
  const auto lines = json_lines(
      run_heed(bench({"attention", "--lengths", "16,64", "--seconds", "0", "--json"})).out);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0]["length"], 16);
  EXPECT_EQ(lines[1]["length"], 64);
  EXPECT_EQ(lines[1]["event"], "result");
  for (const auto& line : lines) {
    EXPECT_GT(line["min_ms"], 0);
    EXPECT_GT(line["gflops"], 0);
    EXPECT_GT(line["share_of_peak"], 0);
    EXPECT_TRUE(line["extra_mb"].is_number());
  }
}

TEST(BenchPeak, MeasuresOneThreadAndSeveral) {
  const auto lines = json_lines(run_heed(bench({"peak", "--threads", "2", "--json"})).out);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0]["threads"], 1);
  EXPECT_EQ(lines[1]["threads"], 2);
  EXPECT_EQ(lines[1]["event"], "result");
  for (const auto& line : lines) EXPECT_GT(line["gflops"], 0);
}

TEST(BenchOps, MeasuresEveryRowOfTheTable) {
  const auto lines = json_lines(run_heed(bench({"ops", "--seconds", "0", "--json"})).out);
  EXPECT_EQ(lines.back()["rows"], lines.size() - 1);
  EXPECT_GT(lines.size(), 80u);
  for (const auto& line : lines) {
    if (line["event"] == "result") continue;
    EXPECT_GT(line["forward_us"], 0) << line;
  }
}

TEST(BenchOps, MeasuresThoseNamed) {
  const Outcome found = run_heed(bench({"ops", "softmax", "argmax", "--seconds", "0"}));
  EXPECT_THAT(
      lines_of(found.out),
      ElementsAre(MatchesRegex("argmax: inputs .*, forward us [0-9.]+"),
                  MatchesRegex("softmax: inputs .*, forward us [0-9.]+, backward us [0-9.]+")));
}

TEST(BenchCommand, RefusesWhatItDoesNotKnow) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> refused = {
      {{}, "a command is required; see "},
      {{"stpe"}, "unknown command \"stpe\"; did you mean \"step\"?"},
      {{"step", "--model", "tny"}, "unknown model \"tny\"; did you mean \"tiny\"?"},
      {{"step", "--modl", "tiny"}, "unknown option \"--modl\"; did you mean \"--model\"?"},
      {{"step", "tiny"}, "unexpected argument \"tiny\""},
      {{"step", "--threads", "0"}, "threads = 0 is out of range"},
      {{"step", "--steps", "0"}, "--steps = 0 is out of range"},
      {{"step", "--seconds", "soon"}, "--seconds = soon: it must be a number from 0 to 3600"},
      {{"attention", "--lengths", "64,x"}, "--lengths = x: it must be a whole number"},
      {{"peak", "--threads", "1000"}, "--threads = 1000 is out of range"},
      {{"ops", "softmx"}, "unknown op \"softmx\"; did you mean \"softmax\"?"}};
  for (const auto& [words, says] : refused) {
    const Outcome found = run_heed(bench(words));
    EXPECT_EQ(found.code, 2) << says;
    EXPECT_THAT(lines_of(found.err), ElementsAre(AllOf(StartsWith("heed: "), HasSubstr(says))));
    EXPECT_THAT(found.out, IsEmpty());
  }
}

TEST(BenchCommand, NamesEachKnownOpOnce) {
  const std::string says = run_heed(bench({"ops", "nosuchop"})).err;
  const std::string start = "known are: ";
  ASSERT_THAT(says, HasSubstr(start));
  std::istringstream list(says.substr(says.find(start) + start.size()));
  std::set<std::string> names;
  for (std::string name; std::getline(list >> std::ws, name, ',');)
    EXPECT_TRUE(names.insert(name).second) << name;
  EXPECT_GT(names.size(), 50U);
}

TEST(BenchCommand, RefusesAThreadCountThatIsNone) {
  for (const char* name : {"step", "attention", "ops"}) {
    const Outcome found = run_heed(bench({name}), {.environment = {{"HEED_THREADS", "two"}}});
    EXPECT_EQ(found.code, 2) << name;
    EXPECT_THAT(found.err, HasSubstr("HEED_THREADS = two"));
  }
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"gradcheck", "exp"}, {"eval", "none"}, {"sample", "none"}})
    EXPECT_EQ(run_heed(words, {.environment = {{"HEED_THREADS", "two"}}}).code, 2);
  EXPECT_EQ(run_heed({"--help"}, {.environment = {{"HEED_ISA", "none"}}}).code, 0);
}

// Threads that share a core take turns; the peak is of all together.
TEST(BenchCommand, PeakOfManyThreadsIsThatOfTheCores) {
  const auto peak = [](const char* threads) {
    const auto lines = json_lines(run_heed(bench({"peak", "--threads", threads, "--json"})).out);
    return lines.back()["gflops"].get<double>();
  };
  const double cores = std::max(std::thread::hardware_concurrency(), 1U);
  EXPECT_LE(peak("64"), 3 * cores * peak("1"));
}

TEST(BenchCommand, IsATableOnATerminalThatHasTheRoom) {
  if (!has_pseudo_terminals()) GTEST_SKIP() << kNoPseudoTerminals;
  const auto lines = on_a_terminal(80, three_steps({"--threads", "1"}));
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0],
            "model       threads   min ms median ms tokens/s GFLOP/s of peak peak MB allocs");
  EXPECT_THAT(
      lines[1],
      MatchesRegex("tiny +1 +[0-9.]+ +[0-9.]+ +[0-9]+ +[0-9.]+ +[0-9]+ % +[0-9.]+ +[0-9]+"));
  for (const int columns : {80, 79, 40, 7})
    EXPECT_THAT(on_a_terminal(columns, three_steps({"--profile"})),
                Each(ResultOf(columns_of, Le(columns))))
        << columns;
  EXPECT_THAT(on_a_terminal(40, three_steps({"--threads", "1"}))[0],
              StartsWith("tiny: threads 1, min ms "));
}

}  // namespace
}  // namespace heed
