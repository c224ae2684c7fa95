// The program from outside: a training, the run it leaves, and what reads it.
#include <gmock/gmock.h>
#include <heed/autograd/autograd.h>
#include <heed/train/train.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli_support.h"
#include "process.h"
#include "support.h"

namespace heed {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// ---- a training from end to end

TEST(Training, LeavesARunThatIsEvaluatedSampledAndRepeatedToTheBit) {
  const TemporaryFolder folder;
  const Start start{.folder = folder.path()};
  const Outcome trained = run_heed(tiny({"--lr", "0.0123", "--dropout", "0.1", "--json"}), start);
  ASSERT_EQ(trained.code, 0) << trained.err;
  const std::filesystem::path run = only_run(folder / "runs");
  for (const char* file : {"config.toml", "metrics.jsonl", "log.txt"})
    EXPECT_FALSE(read_file(run / file).empty());

  const nlohmann::json result = last_json(trained.out);
  EXPECT_EQ(result["event"], "result");
  EXPECT_EQ(result["task"], "copy");
  EXPECT_EQ(result["steps"], 20);
  EXPECT_EQ(folder.path() / result["run"].get<std::string>(), run);
  for (const char* name : {"loss", "accuracy", "exact_match", "alignment", "seconds"})
    EXPECT_TRUE(result[name].is_number()) << name;

  const Outcome evaluated = run_heed({"eval", "runs", "--json"}, start);
  ASSERT_EQ(evaluated.code, 0) << evaluated.err;
  const auto again = json_lines(evaluated.out).at(0);
  for (const char* name : {"loss", "accuracy", "exact_match", "alignment"})
    EXPECT_EQ(again[name], result[name]) << name;

  const Outcome sampled = run_heed({"sample", run.string(), "--prompt", "abc|"}, start);
  ASSERT_EQ(sampled.code, 0) << sampled.err;
  EXPECT_THAT(lines_of(sampled.out), ElementsAre(testing::MatchesRegex("abc\\|...")));

  const Outcome repeated =
      run_heed({"train", "--config", (run / "config.toml").string(), "--out", "more"}, start);
  ASSERT_EQ(repeated.code, 0) << repeated.err;
  EXPECT_EQ(last_checkpoint(only_run(folder / "more")), last_checkpoint(run));
  EXPECT_EQ(read_file(only_run(folder / "more") / "config.toml"), read_file(run / "config.toml"));
  run_heed({"train", "--config", (run / "config.toml").string(), "--out", "other", "--seed", "2"},
           start);
  EXPECT_NE(last_checkpoint(only_run(folder / "other")), last_checkpoint(run));
}

TEST(Training, OfATextNeedsTheTextNoLongerToSample) {
  const TemporaryFolder folder;
  const Start start{.folder = folder.path()};
  std::string poem;
  for (int i = 0; i < 40; ++i) poem += "the cät # sat, \"on\" the mat\n";
  write_file(folder / "a # b.txt", poem);
  const Outcome trained =
      run_heed({"train", "text", "a # b.txt", "--context", "8", "--layers", "1", "--heads", "1",
                "--d-model", "8", "--steps", "3", "--batch", "2", "--json"},
               start);
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_TRUE(last_json(trained.out)["alignment"].is_null());
  EXPECT_EQ(run_heed({"eval", "runs"}, start).code, 0);
  EXPECT_EQ(run_heed({"train", "--config", (only_run(folder / "runs") / "config.toml").string(),
                      "--out", "more"},
                     start)
                .code,
            0);

  std::filesystem::remove(folder / "a # b.txt");
  const Outcome sampled = run_heed({"sample", "runs", "--prompt", "cät", "--tokens", "20"}, start);
  EXPECT_EQ(sampled.code, 0) << sampled.err;
  EXPECT_THAT(sampled.out, StartsWith("cät"));
  const Outcome evaluated = run_heed({"eval", "runs"}, start);
  EXPECT_EQ(evaluated.code, 3);
  EXPECT_THAT(evaluated.err, HasSubstr("a # b.txt"));
}

TEST(Training, TakesFlagsBeforeTheConfigBeforeTheRecipe) {
  const TemporaryFolder folder;
  write_file(folder / "c.toml", "lr = 0.5 # a comment\nd-model = 8\n\n[build]\nversion = '9'\n");
  const Outcome found = run_heed(
      {"train", "copy", "--config", "c.toml", "--lr", "0.25", "--steps", "1", "--batch", "1"},
      {.folder = folder.path()});
  ASSERT_EQ(found.code, 0) << found.err;
  const auto config = lines_of(read_file(only_run(folder / "runs") / "config.toml"));
  EXPECT_THAT(config, AllOf(Contains("lr = 0.25"), Contains("d-model = 8"), Contains("heads = 2")));
}

TEST(Training, WritesMetricsForEveryTenthStepAndEvaluation) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_heed(tiny(), {.folder = folder.path()}).code, 0);
  std::vector<std::int64_t> steps, evaluations;
  for (const auto& line : json_lines(read_file(only_run(folder / "runs") / "metrics.jsonl"))) {
    const bool step = line["event"] == "step";
    (step ? steps : evaluations).push_back(line["step"]);
    for (const char* name : {"loss", "accuracy"}) EXPECT_TRUE(line[name].is_number());
    for (const char* name : {"lr", "grad_norm", "update_ratio", "tokens_per_second"})
      EXPECT_EQ(step, line.contains(name) && line[name] > 0) << name;
  }
  EXPECT_THAT(steps, ElementsAre(1, 10, 20));
  EXPECT_THAT(evaluations, ElementsAre(5, 10, 15, 20));
}

TEST(Training, ShowsTheHeadsAndWhatComesNext) {
  const TemporaryFolder folder;
  const Outcome found = run_heed(tiny(), {.folder = folder.path()});
  EXPECT_THAT(found.out, AllOf(HasSubstr("20 steps"), HasSubstr("L0 H0"), HasSubstr("L1 H1"),
                               HasSubstr("heed sample runs/copy-"), HasSubstr("--prompt '"),
                               HasSubstr("heed eval runs/copy-")));
  EXPECT_THAT(
      run_heed(tiny(), {.folder = folder.path(), .environment = {{"HEED_COMMAND", "./heed"}}}).out,
      HasSubstr("\n  ./heed sample "));
}

TEST(Training, IsADifferentRunEachTime) {
  const TemporaryFolder folder;
  for (int i = 0; i < 3; ++i) ASSERT_EQ(run_heed(tiny(), {.folder = folder.path()}).code, 0);
  const auto entries = std::filesystem::directory_iterator(folder / "runs");
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 3);
}

TEST(Training, LimitsTheRecipesMinLrToLr) {
  const TemporaryFolder folder;
  write_file(folder / "text", std::string(400, 'a') + "b");
  const std::vector<std::string> words{"train", "text",    "text", "--steps",   "1", "--lr",
                                       "1e-5",  "--batch", "1",    "--context", "4"};
  EXPECT_EQ(run_heed(words, {.folder = folder.path()}).code, 0);
  EXPECT_THAT(lines_of(read_file(only_run(folder / "runs") / "config.toml")),
              Contains("min-lr = 1e-05"));
}

TEST(Training, OfAFileWhoseNameIsNotUtf8IsRefused) {
  const TemporaryFolder folder;
  write_file(folder / "\xff", std::string(400, 'a'));
  const Outcome found = run_heed({"train", "text", "\xff"}, {.folder = folder.path()});
  EXPECT_EQ(found.code, 2);
  EXPECT_THAT(found.err, HasSubstr("is not UTF-8"));
  EXPECT_FALSE(std::filesystem::exists(folder / "runs"));
}

TEST(Training, OfNoStepsSaysNoLoss) {
  const TemporaryFolder folder;
  const Outcome found = run_heed(tiny({"--steps", "0"}), {.folder = folder.path()});
  EXPECT_EQ(found.code, 0);
  EXPECT_THAT(found.err, AllOf(HasSubstr("step 0/0  unseen"), Not(HasSubstr("nan"))));
  EXPECT_THAT(run_heed(tiny({"--steps", "1"}), {.folder = folder.path()}).out,
              HasSubstr("after 1 step in"));
}

// ---- saved runs

TEST(SavedRun, IsRefusedIfDamaged) {
  const TemporaryFolder folder;
  const Start start{.folder = folder.path()};
  ASSERT_EQ(run_heed(tiny({"--steps", "1"}), start).code, 0);
  const std::filesystem::path file = only_run(folder / "runs") / "checkpoints/last.safetensors";
  const std::string whole = read_file(file);
  const auto expect_refused = [&](const std::string& bytes, const std::string& reason) {
    write_file(file, bytes);
    const Outcome found = run_heed({"eval", "runs"}, start);
    EXPECT_EQ(found.code, 3);
    EXPECT_THAT(lines_of(found.err), ElementsAre(HasSubstr(reason)));
  };
  expect_refused(whole.substr(0, whole.size() - 1), "cut off");
  write_safetensors(file, {{"w", zeros({1})}});
  expect_refused(read_file(file), "has no heed.config");
  std::string other = whole;
  other.replace(other.find("d-model = 8"), 11, "d-model = 6");
  expect_refused(other, "does not fit the model");
  other = whole;
  const std::string_view step = R"("heed.step":"1")";
  other.replace(other.find(step), step.size(), R"("heed.step":"x")");
  expect_refused(other, "heed.step = x");
  other = whole;
  other.replace(other.find("layers = 2"), 10, "layers = 9");
  expect_refused(other, "its settings ask for at least");
  std::filesystem::remove(file);
  EXPECT_THAT(run_heed({"eval", "runs"}, start).err, HasSubstr("has no checkpoint"));
}

TEST(Eval, DrawsTheHeads) {
  const TemporaryFolder folder;
  const Start start{.folder = folder.path()};
  ASSERT_EQ(run_heed(tiny(), start).code, 0);
  const Outcome found = run_heed({"eval", "runs", "--rows", "7", "--svg", "heads.svg"}, start);
  EXPECT_EQ(found.code, 0) << found.err;
  EXPECT_THAT(found.out, AllOf(HasSubstr("7 unseen rows"), HasSubstr("baseline, uniform: loss"),
                               HasSubstr("layer head  aligned  entropy")));
  EXPECT_THAT(read_file(folder / "heads.svg"), AllOf(StartsWith("<svg"), HasSubstr("L1 H1")));
  EXPECT_EQ(run_heed({"eval", "runs", "--svg", "none/heads.svg"}, start).code, 1);
}

}  // namespace
}  // namespace heed
