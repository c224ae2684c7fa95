// The program from outside: terminals, signals, runaway numbers, closed and full outputs.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "cli_support.h"
#include "process.h"
#include "pseudo_terminal.h"
#include "screen.h"
#include "support.h"

namespace heed {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

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

}  // namespace
}  // namespace heed
