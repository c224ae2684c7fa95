// The program from outside: what it does with good and bad command lines.
#include <gmock/gmock.h>
#include <heed/autograd/autograd.h>
#include <heed/train/train.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "process.h"
#include "pseudo_terminal.h"
#include "screen.h"
#include "support.h"

namespace heed {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ContainsRegex;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

/// A training that takes a moment.
std::vector<std::string> tiny(std::vector<std::string> more = {}) {
  std::vector<std::string> words{"train",   "copy", "--context", "6",  "--d-model",    "8",
                                 "--batch", "4",    "--steps",   "20", "--eval-every", "5"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// The one run in a folder of runs.
std::filesystem::path only_run(const std::filesystem::path& runs) {
  const auto entries = std::filesystem::directory_iterator(runs);
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1);
  return begin(std::filesystem::directory_iterator(runs))->path();
}

std::string last_checkpoint(const std::filesystem::path& run) {
  return read_file(run / "checkpoints/last.safetensors");
}

std::vector<nlohmann::json> json_lines(const std::string& text) {
  std::vector<nlohmann::json> lines;
  for (const std::string& line : lines_of(text)) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

/// The last line, which is the result.
nlohmann::json last_json(const std::string& text) {
  const auto lines = json_lines(text);
  return lines.empty() ? nlohmann::json::object() : lines.back();
}

// ---- command lines that cannot be followed

struct Refused {
  std::vector<std::string> words;
  int code;
  std::string says;
};

class Refusal : public testing::TestWithParam<Refused> {};

TEST_P(Refusal, IsOneLineAndLeavesNothing) {
  const TemporaryFolder folder;
  const auto& [words, code, says] = GetParam();
  const Outcome found = run_heed(words, {.folder = folder.path()});
  EXPECT_EQ(found.code, code) << found.err;
  EXPECT_THAT(lines_of(found.err), ElementsAre(AllOf(StartsWith("heed: "), HasSubstr(says))));
  EXPECT_THAT(found.out, IsEmpty());
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

INSTANTIATE_TEST_SUITE_P(
    CommandLine, Refusal,
    testing::Values(
        Refused{{}, 2, "--help"}, Refused{{"trian"}, 2, "did you mean \"train\"?"},
        Refused{{"train"}, 2, "tasks lists"},
        Refused{{"train", "cpoy"}, 2, "unknown task \"cpoy\"; did you mean \"copy\"?"},
        Refused{{"train", "zzz"}, 2, "copy"},
        Refused{{"train", "copy", "--lyers", "3"}, 2, "did you mean \"--layers\"?"},
        Refused{{"train", "copy", "--lyers=3"}, 2, "did you mean \"--layers\"?"},
        Refused{{"train", "copy", "file", "more"}, 2, "unexpected argument \"more\""},
        Refused{{"train", "copy", "file"}, 2, "takes no file"},
        Refused{{"train", "copy", "--heads", "3", "--d-model", "32"},
                2,
                "heads = 3 does not divide d_model = 32"},
        Refused{{"train", "copy", "--steps", "-1"},
                2,
                "steps = -1 is out of range: it must be a whole number from 0 to 1000000000000"},
        Refused{{"train", "copy", "--steps", "1.5"}, 2, "steps = 1.5: it must be a whole number"},
        Refused{{"train", "copy", "--steps", "99999999999999999999"},
                2,
                "steps = 99999999999999999999 is out of range"},
        Refused{{"train", "copy", "--steps", "0x5"}, 2, "steps = 0x5: it must be a whole number"},
        Refused{{"train", "copy", "--steps"}, 2, "--steps needs a value; see"},
        Refused{{"train", "copy", "--lr", "1e400"}, 2, "lr = 1e400 is out of range"},
        Refused{{"train", "copy", "--layers", "0"}, 2, "from 1 to 1000"},
        Refused{{"train", "copy", "--lr", "fast"},
                2,
                "lr = fast: it must be a finite number, 0 or more"},
        Refused{{"train", "copy", "--lr", "nan"}, 2, "lr = nan"},
        Refused{{"train", "copy", "--lr", "inf"}, 2, "lr = inf"},
        Refused{{"train", "copy", "--lr", "0,001"}, 2, "lr = 0,001"},
        Refused{{"train", "copy", "--lr", ""}, 2, "lr"},
        Refused{{"train", "copy", "--min-lr", "1"}, 2, "--min-lr = 1 is above --lr = 0.003"},
        Refused{{"train", "copy", "--schedule", "cosin"}, 2, "constant, linear or cosine"},
        Refused{{"train", "copy", "--beta2", "1"}, 2, "beta2 = 1"},
        Refused{{"train", "copy", "--context", "31"}, 2, "context = 31"},
        Refused{{"train", "text"}, 2, "needs a file"},
        Refused{{"train", "text", "none.txt"}, 3, "none.txt: cannot be read: No such file"},
        Refused{{"train", "text", "/"}, 3, "directory"},
        Refused{{"train", "text", "/dev/zero"}, 3, "/dev/zero: is no regular file"},
        Refused{{"train", "copy", "--config", "none.toml"}, 3, "none.toml"},
        Refused{{"train", "copy", "--out", "/proc/none"},
                1,
                "cannot make the run directory /proc/none"},
        Refused{{"train", "copy", "--out", "/dev/null"}, 1, "/dev/null"},
        Refused{{"eval"}, 2, "run is required"}, Refused{{"eval", "none"}, 3, "no run at none"},
        Refused{{"eval", "/proc"}, 3, "no run at /proc"},
        Refused{{"eval", ".", "--rows", "0"}, 2, "--rows = 0 is out of range"},
        Refused{{"eval", ".", "--rows", "0x10"}, 2, "--rows = 0x10: it must be"},
        Refused{{"sample", ".", "--prompt", "a", "--seed", "99999999999999999999"},
                2,
                "--seed = 99999999999999999999 is out of range"},
        Refused{{"sample", ".", "--prompt", "a"}, 3, "no run at ."},
        Refused{{"sample", "."}, 2, "--prompt is required"},
        Refused{{"tasks", "cpoy"}, 2, "did you mean \"copy\"?"}));

TEST(CommandLine, RefusesConfigFilesByLine) {
  const TemporaryFolder folder;
  const std::vector<std::pair<std::string, std::string>> files{
      {"lr = 0.1\nlyers = 3\n",
       "c.toml, line 2: unknown setting \"lyers\"; did you mean \"layers\"?"},
      {"layers = 0", "line 1: layers = 0 is out of range: it must be"},
      {"just words", "line 1: expected ="},
      {"layers 3", "line 1: expected ="},
      {"layers = 3 4", "line 1: expected the end of the line"},
      {"layers =", "line 1: expected a value"},
      {"file = \"a", "line 1: expected a \" at the end"},
      {"file = \"\\q\"", "line 1: expected one of"},
      {"\n[model]\nlayers = 3", "line 3: there is no section [model]"}};
  for (const auto& [config, reason] : files) {
    write_file(folder / "c.toml", config);
    const Outcome found =
        run_heed({"train", "copy", "--config", "c.toml"}, {.folder = folder.path()});
    EXPECT_EQ(found.code, 2) << config;
    EXPECT_THAT(lines_of(found.err), ElementsAre(HasSubstr(reason)));
  }
}

// ---- what it tells of itself

TEST(CommandLine, HelpNamesEverySettingWithItsDefault) {
  const Outcome found = run_heed({"train", "copy", "--help"});
  EXPECT_EQ(found.code, 0);
  for (const char* flag :
       {"--layers", "--heads", "--d-model", "--d-ff", "--context", "--batch", "--steps", "--lr",
        "--min-lr", "--schedule", "--weight-decay", "--warmup", "--beta2", "--dropout", "--clip",
        "--accumulate", "--seed", "--eval-every"})
    EXPECT_THAT(lines_of(found.out), Contains(ContainsRegex(std::string("^ *") + flag +
                                                            " .*(number|cosine).* \\[.+\\]$")));
  EXPECT_THAT(found.out, AllOf(HasSubstr("--watch"), HasSubstr("--json"), HasSubstr("--config"),
                               HasSubstr("--out"), HasSubstr("[300]"), HasSubstr("[0.003]")));
  EXPECT_THAT(run_heed({"train", "text", "--help"}).out, HasSubstr("[cosine]"));
}

TEST(CommandLine, ListsAndDescribesTasks) {
  const Outcome all = run_heed({"tasks"});
  EXPECT_EQ(all.code, 0);
  EXPECT_THAT(lines_of(all.out), ElementsAre(StartsWith("copy "), StartsWith("text FILE ")));
  EXPECT_THAT(run_heed({"tasks", "copy"}).out,
              AllOf(HasSubstr("abcponmlkafffeb|"), HasSubstr("--d-model 32")));
  EXPECT_EQ(json_lines(run_heed({"tasks", "--json"}).out).at(1)["task"], "text");
}

TEST(CommandLine, TellsItsVersion) {
  EXPECT_THAT(run_heed({"version"}).out, AllOf(StartsWith("heed "), HasSubstr("compiler: ")));
  const auto info = json_lines(run_heed({"version", "--json"}).out).at(0);
  EXPECT_EQ("heed " + info["version"].get<std::string>() + "\n", run_heed({"--version"}).out);
}

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

TEST(Sample, RefusesWhatItCannotRead) {
  const TemporaryFolder folder;
  const Start start{.folder = folder.path()};
  ASSERT_EQ(run_heed(tiny({"--steps", "1"}), start).code, 0);
  const auto refused = [&](std::vector<std::string> words, const std::string& reason) {
    words.insert(words.begin(), {"sample", "runs"});
    const Outcome found = run_heed(words, start);
    EXPECT_EQ(found.code, 2);
    EXPECT_THAT(lines_of(found.err), ElementsAre(HasSubstr(reason)));
    EXPECT_THAT(found.out, IsEmpty());
  };
  refused({"--prompt", "abz"}, "position 2");
  refused({"--prompt", ""}, "empty");
  refused({"--prompt", "a", "--temperature", "-1"}, "temperature = -1 is out of range");
  refused({"--prompt", "a", "--temperature", "nan"}, "temperature");
  refused({"--prompt", "a", "--top-k", "0"}, "--top-k = 0 is out of range");
  refused({"--prompt", "a", "--tokens", "-1"}, "-1");
}

TEST(Sample, SaysWhenThePromptIsLongerThanTheContext) {
  const TemporaryFolder folder;
  const Start start{.folder = folder.path()};
  ASSERT_EQ(run_heed(tiny({"--steps", "1"}), start).code, 0);
  const auto sampled = [&](const std::string& prompt) {
    return run_heed({"sample", "runs", "--prompt", prompt, "--tokens", "1", "--json"}, start);
  };
  EXPECT_THAT(sampled("abc|ab").err, IsEmpty());
  const Outcome longer = sampled("pabc|ab");
  EXPECT_THAT(lines_of(longer.err), ElementsAre(HasSubstr("only the last 6")));
  EXPECT_EQ(json_lines(longer.out).at(0)["continuation"],
            json_lines(sampled("abc|ab").out).at(0)["continuation"]);
}

// ---- terminals

TEST(Cases, U01NothingIsDrawnIntoAFile) {
  const TemporaryFolder folder;
  const Outcome found =
      run_heed(tiny(), {.folder = folder.path(), .environment = {{"TERM", "xterm"}}});
  const std::string all = found.out + found.err;
  EXPECT_EQ(all.find_first_of("\r\x1b"), std::string::npos);
  std::size_t reports = 0;
  for (const std::string& line : lines_of(found.err)) reports += line.starts_with("step ");
  EXPECT_GE(reports, 4u) << found.err;
}

TEST(Cases, U03NoTrainingIsWiderThanItsTerminal) {
  if (!has_pseudo_terminals()) GTEST_SKIP() << kNoPseudoTerminals;
  for (int width : {0, 1, 10, 20, 40, 79, 500})
    for (const char* watch : {"--watch", "--json"}) {
      const TemporaryFolder folder;
      const Outcome found = run_heed(tiny({watch}), {.folder = folder.path(),
                                                     .environment = {{"TERM", "xterm-256color"}},
                                                     .terminal_width = width});
      EXPECT_EQ(found.code, 0);
      for (const std::string& line : lines_of(found.err))
        EXPECT_LE(columns_of(line), width == 0 ? 80 : width) << line;
    }
}

TEST(Terminals, WatchingChangesNoBit) {
  if (!has_pseudo_terminals()) GTEST_SKIP() << kNoPseudoTerminals;
  const TemporaryFolder folder;
  const Outcome plain = run_heed(tiny({"--out", "plain"}), {.folder = folder.path()});
  const Outcome watched = run_heed(tiny({"--out", "watched", "--watch"}),
                                   {.folder = folder.path(),
                                    .environment = {{"TERM", "xterm"}, {"COLORTERM", "truecolor"}},
                                    .terminal_width = 100});
  ASSERT_EQ(watched.code, 0) << watched.err;
  EXPECT_THAT(watched.err, AllOf(HasSubstr("\x1b[38;2;"), HasSubstr("▀"), HasSubstr("L0 H0"),
                                 HasSubstr("A\r"), HasSubstr("▁")));
  EXPECT_EQ(last_checkpoint(only_run(folder / "plain")),
            last_checkpoint(only_run(folder / "watched")));
}

TEST(Terminals, HonourTheEnvironment) {
  if (!has_pseudo_terminals()) GTEST_SKIP() << kNoPseudoTerminals;
  const TemporaryFolder folder;
  const auto shown = [&](std::vector<std::pair<std::string, std::string>> environment) {
    return run_heed(tiny({"--watch"}), {.folder = folder.path(),
                                        .environment = std::move(environment),
                                        .terminal_width = 100})
        .err;
  };
  const std::string no_color = shown({{"TERM", "xterm"}, {"NO_COLOR", "1"}});
  EXPECT_THAT(no_color, AllOf(HasSubstr("L0 H0"), HasSubstr("\x1b["), Not(HasSubstr("38;"))));
  const std::string dumb = shown({{"TERM", "dumb"}});
  EXPECT_EQ(dumb.find('\x1b'), std::string::npos);
  EXPECT_THAT(dumb, HasSubstr("step "));
}

// ---- ends before the end

/// A training that would take hours.
std::vector<std::string> endless() {
  return {"train", "copy", "--steps", "100000000", "--eval-every", "10"};
}

TEST(Cases, U05AnInterruptionFinishesTheStepAndSaves) {
  for (int signal : {SIGINT, SIGTERM}) {
    const TemporaryFolder folder;
    Process training(endless(), {.folder = folder.path()});
    ASSERT_TRUE(training.wait_for("step 10/"));
    training.signal(signal);
    const Outcome found = training.finish();
    EXPECT_EQ(found.code, 130);
    EXPECT_THAT(found.err, AllOf(HasSubstr("are saved"), HasSubstr("eval runs/copy-"),
                                 HasSubstr("config.toml")));
    const Outcome evaluated =
        run_heed({"eval", "runs", "--rows", "10", "--json"}, {.folder = folder.path()});
    ASSERT_EQ(evaluated.code, 0) << evaluated.err;
    EXPECT_GE(json_lines(evaluated.out).at(0)["steps"], 10);
  }
}

TEST(Cases, U05ASecondInterruptionLeavesAtOnce) {
  const TemporaryFolder folder;
  // A step of half a minute: the first signal cannot be answered before the second.
  Process training({"train", "copy", "--context", "2", "--batch", "1", "--accumulate", "100000"},
                   {.folder = folder.path()});
  ASSERT_TRUE(training.wait_for("into runs/"));
  training.signal(SIGINT);
  ::usleep(100'000);
  training.signal(SIGINT);
  EXPECT_EQ(training.finish().code, 130);
  EXPECT_EQ(run_heed({"eval", "runs", "--rows", "1"}, {.folder = folder.path()}).code, 0)
      << "the weights of the start are whole";
}

TEST(Cases, U07ADivergedTrainingStopsAndKeepsTheLastGoodWeights) {
  const TemporaryFolder folder;
  const Outcome found =
      run_heed({"train", "copy", "--lr", "1e6", "--json"}, {.folder = folder.path()});
  EXPECT_EQ(found.code, 5);
  EXPECT_THAT(
      lines_of(found.err).back(),
      AllOf(ContainsRegex("^heed: stopped at step [0-9]+: loss "),
            HasSubstr("the gradient of token_embedding.weight"), HasSubstr("smaller --lr")));
  const Outcome evaluated = run_heed({"eval", "runs", "--json"}, {.folder = folder.path()});
  ASSERT_EQ(evaluated.code, 0) << evaluated.err;
  EXPECT_LT(json_lines(evaluated.out).at(0)["loss"], 4);
}

TEST(Training, AnomalyIsTracedToItsOpAndToTheNearestParameter) {
  const TemporaryFolder folder;
  const Outcome found =
      run_heed({"train", "copy", "--lr", "1e6", "--clip", "1e9", "--detect-anomaly"},
               {.folder = folder.path()});
  EXPECT_EQ(found.code, 5);
  EXPECT_THAT(
      lines_of(found.err).back(),
      AllOf(ContainsRegex("^heed: stopped at step [0-9]+ at lr .*; [a-z_ ]+: (its|the gradient)"),
            HasSubstr("the nearest parameter is ")));
}

// ---- outputs nobody reads, files that cannot grow

/// The exit code of a shell command in which $HEED trains a moment.
int shell(const TemporaryFolder& folder, const std::string& command) {
  std::string words;
  for (const std::string& word : tiny()) words += " " + word;
  const int status = std::system(
      ("cd '" + folder.path().string() + "' && HEED='" HEED_PROGRAM + words + "' && " + command)
          .c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Outputs, MayBeClosedWithoutReachingAFile) {
  const TemporaryFolder folder;
  EXPECT_EQ(shell(folder, "$HEED >/dev/null 2>&-"), 0);
  json_lines(read_file(only_run(folder / "runs") / "metrics.jsonl"));
  EXPECT_EQ(shell(folder, "$HEED --out closed >&- 2>/dev/null"), 1) << "the result is lost";
  json_lines(read_file(only_run(folder / "closed") / "metrics.jsonl"));
  EXPECT_EQ(shell(folder, "$HEED --help >/dev/full 2>/dev/null"), 1);
}

TEST(Outputs, OfAClosedPipeEndNoTraining) {
  const TemporaryFolder folder;
  EXPECT_EQ(shell(folder, "{ $HEED; echo $? > code; } 2>&1 | true"), 0);
  EXPECT_EQ(read_file(folder / "code"), "1\n");
  const Outcome found = run_heed({"eval", "runs", "--json"}, {.folder = folder.path()});
  EXPECT_EQ(json_lines(found.out).at(0)["steps"], 20) << "the work is saved";
}

TEST(Outputs, OfAFullDiskLeaveNothingHalfDone) {
  const TemporaryFolder folder;
  EXPECT_EQ(shell(folder, "(ulimit -f 4; $HEED --d-model 64 >/dev/null 2>&1)"), 1);
  EXPECT_TRUE(std::filesystem::is_empty(folder / "runs"));
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

}  // namespace
}  // namespace heed
