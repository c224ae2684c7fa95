// The program from outside: what it tells of itself.
#include <gmock/gmock.h>
#include <heed/train/cli/output.h>

#include <filesystem>

#include "cli_support.h"
#include "process.h"
#include "support.h"

namespace heed {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::StartsWith;

TEST(CommandLine, WordsCanBeTypedIntoAShell) {
  EXPECT_EQ(cli::shell_word("runs/copy"), "runs/copy");
  EXPECT_EQ(cli::shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(cli::shell_word("1+1\t"), "$'1+1\\t'") << "a tab would complete a file name";
  EXPECT_EQ(cli::shell_word("\\'\x1b"), "$'\\\\\\'\\x1b'");
}

TEST(CommandLine, HelpNamesEverySettingWithItsDefault) {
  const Outcome found = run_heed({"train", "copy", "--help"});
  EXPECT_EQ(found.code, 0);
  for (const char* flag :
       {"--layers",   "--heads",   "--d-model",   "--d-ff",       "--context",      "--batch",
        "--steps",    "--lr",      "--min-lr",    "--schedule",   "--weight-decay", "--warmup",
        "--beta2",    "--dropout", "--clip",      "--accumulate", "--seed",         "--eval-every",
        "--kv-heads", "--norm",    "--positions", "--norm-kind",  "--activation",   "--scale",
        "--mask",     "--tied",    "--optimizer", "--period",     "--factor",       "--decays",
        "--groups",   "--beta1",   "--momentum",  "--ema",        "--overfit"})
    EXPECT_THAT(lines_of(found.out),
                Contains(ContainsRegex(std::string("^ *") + flag +
                                       " .*(number|cosine|muon|all|names| or ).* \\[.+\\]$")));
  EXPECT_THAT(found.out, AllOf(HasSubstr("--watch"), HasSubstr("--json"), HasSubstr("--config"),
                               HasSubstr("--out"), HasSubstr("[300]"), HasSubstr("[0.003]")));
  EXPECT_THAT(run_heed({"train", "text", "--help"}).out, HasSubstr("[cosine]"));
}

TEST(CommandLine, ListsAndDescribesTasks) {
  const Outcome all = run_heed({"tasks"});
  EXPECT_EQ(all.code, 0);
  EXPECT_THAT(lines_of(all.out),
              AllOf(Contains(StartsWith("copy ")), Contains(StartsWith("text FILE "))));
  EXPECT_THAT(
      run_heed({"tasks", "copy"}).out,
      AllOf(ContainsRegex("inputs   [a-p]{15}\\|[a-p]{14}\n  targets  (·){15}[a-p]{15}"),
            HasSubstr("--d-model 32"), HasSubstr("--alphabet: "), HasSubstr("uniform 2.8332")));
  EXPECT_EQ(json_lines(run_heed({"tasks", "--json"}).out).at(1)["task"], "reverse");
}

TEST(CommandLine, TellsItsVersion) {
  EXPECT_THAT(run_heed({"version"}).out, AllOf(StartsWith("heed "), HasSubstr("compiler: ")));
  const auto info = json_lines(run_heed({"version", "--json"}).out).at(0);
  EXPECT_EQ("heed " + info["version"].get<std::string>() + "\n", run_heed({"--version"}).out);
}

TEST(CommandLine, ThreadsAreRecordedAndChangeNoNumber) {
  const TemporaryFolder folder;
  const auto train = [&](const std::string& threads) {
    const std::filesystem::path runs = folder.path() / threads;
    EXPECT_EQ(run_heed({"train", "copy", "--steps", "2", "--d-model", "64", "--threads", threads,
                        "--out", runs.string()})
                  .code,
              0);
    const std::filesystem::path run = std::filesystem::directory_iterator(runs)->path();
    EXPECT_THAT(read_file(run / "config.toml"), HasSubstr("threads = \"" + threads + "\""));
    return read_file(run / "checkpoints" / "last.safetensors");
  };
  EXPECT_EQ(train("1"), train("3"));
}

TEST(CommandLine, ThreadsOfTheEnvironmentAreReadAsStrictly) {
  const TemporaryFolder folder;
  for (const char* written : {"two", "0", "257"}) {
    const Outcome found = run_heed(
        {"train", "copy"}, {.folder = folder.path(), .environment = {{"HEED_THREADS", written}}});
    EXPECT_EQ(found.code, 2);
    EXPECT_THAT(found.err, HasSubstr(std::string("HEED_THREADS = ") + written));
  }
}

}  // namespace
}  // namespace heed
