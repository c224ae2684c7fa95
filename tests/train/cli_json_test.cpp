// The program from outside: what it writes for other programs.
#include <gmock/gmock.h>

#include <csignal>
#include <filesystem>
#include <set>

#include "cli_support.h"
#include "process.h"
#include "support.h"

namespace heed {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

/// The commands that --help of these words lists, each with the words before it.
std::vector<std::vector<std::string>> commands_of(const std::vector<std::string>& words) {
  std::vector<std::string> help = words;
  help.push_back("--help");
  std::vector<std::vector<std::string>> found;
  bool listed = false;
  for (const std::string& line : lines_of(run_heed(help).out)) {
    listed = listed || line == "Subcommands:";
    const std::size_t end = line.find(' ', 2);
    if (!listed || !line.starts_with("  ") || end <= 2) continue;
    found.push_back(words);
    found.back().push_back(line.substr(2, end - 2));
  }
  return found;
}

TEST(Json, EndsWithAResultInEveryCommandThatHasIt) {
  const TemporaryFolder folder;
  const Start start{.folder = folder.path()};
  const std::vector<std::vector<std::string>> ways{
      tiny(),
      tiny({"--seeds", "1,2", "--out", "seeds"}),
      tiny({"--overfit", "1", "--out", "fixed"}),
      {"eval", "runs"},
      {"sample", "runs", "--prompt", "abc|"},
      {"export", "runs", "--out", "there"},
      {"import", "there/model.safetensors", "--out", "back"},
      {"tasks"},
      {"tasks", "copy"},
      {"version"},
      {"gradcheck"},
      {"gradcheck", "tanh"},
      {"bench", "step", "--model", "tiny", "--steps", "1", "--profile"},
      {"bench", "attention", "--lengths", "8", "--seconds", "0"},
      {"bench", "ops", "tanh", "--seconds", "0"},
      {"bench", "peak", "--threads", "2"}};
  std::set<std::string> tried;
  for (std::vector<std::string> words : ways) {
    tried.insert(words[0] == "bench" ? words[1] : words[0]);
    words.push_back("--json");
    const std::string out = run_heed(words, start).out;
    const auto lines = json_lines(out);
    ASSERT_FALSE(lines.empty()) << words[0];
    EXPECT_EQ(lines.back()["event"], "result") << out;
    for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
      EXPECT_TRUE(lines[i]["event"].is_string()) << lines[i];
      EXPECT_NE(lines[i]["event"], "result") << lines[i];
    }
  }
  std::vector<std::vector<std::string>> commands = commands_of({});
  for (const auto& command : commands_of({"bench"})) commands.push_back(command);
  EXPECT_GE(commands.size(), 13u);
  for (std::vector<std::string> words : commands) {
    const std::string name = words.back();
    words.push_back("--help");
    const bool has_it = run_heed(words).out.find("--json") != std::string::npos;
    EXPECT_TRUE(!has_it || tried.contains(name)) << name;
  }
}

TEST(Json, HasListsAndBools) {
  const TemporaryFolder folder;
  const Start start{.folder = folder.path()};
  EXPECT_EQ(last_json(run_heed(tiny({"--seeds", "4,2", "--json"}), start).out)["seeds"].dump(),
            "[4,2]");
  const Outcome fixed = run_heed(tiny({"--overfit", "1", "--json"}), start);
  EXPECT_EQ(last_json(fixed.out)["memorised"].dump(), fixed.code == 0 ? "true" : "false");
}

TEST(Json, OfATrainingThatDivergesSaysHowFarItCame) {
  const TemporaryFolder folder;
  const Start start{.folder = folder.path()};
  const Outcome found = run_heed({"train", "copy", "--lr", "1e6", "--json"}, start);
  EXPECT_EQ(found.code, 5);
  const auto result = last_json(found.out);
  EXPECT_EQ(result["event"], "result");
  EXPECT_EQ(result["task"], "copy");
  EXPECT_LT(result["steps"], 300);
  EXPECT_EQ("heed: " + result["error"].get<std::string>(), lines_of(found.err).back());
  EXPECT_EQ(folder.path() / result["run"].get<std::string>(), only_run(folder / "runs"));

  const Outcome seeds =
      run_heed({"train", "copy", "--lr", "1e6", "--seeds", "3,4", "--json"}, start);
  EXPECT_EQ(seeds.code, 5);
  EXPECT_EQ(last_json(seeds.out)["event"], "result");
  EXPECT_THAT(last_json(seeds.out)["seeds"], IsEmpty()) << "of those that came to their end";
  EXPECT_THAT(last_json(seeds.out)["error"].get<std::string>(), HasSubstr("loss"));
}

/// A training that something else has to end, of one seed or of two.
std::vector<std::string> endless(bool many) {
  std::vector<std::string> words{"train",        "copy", "--steps", "100000000",
                                 "--eval-every", "10",   "--json"};
  if (many) words.insert(words.end(), {"--seeds", "1,2"});
  return words;
}

TEST(Json, OfATrainingThatCannotSaveSaysSo) {
  for (const bool many : {false, true}) {
    const TemporaryFolder folder;
    Process training(endless(many), {.folder = folder.path()});
    ASSERT_TRUE(training.wait_for("step 10/"));
    std::filesystem::remove_all(only_run(folder / "runs") / "checkpoints");
    const Outcome found = training.finish();
    EXPECT_EQ(found.code, 1);
    const auto result = last_json(found.out);
    EXPECT_EQ(result["event"], "result");
    EXPECT_EQ("heed: " + result.value("error", ""), lines_of(found.err).back());
    EXPECT_EQ(result.contains("seeds"), many) << result;
    EXPECT_EQ(result.value("steps", 0) >= 10, !many) << result;
  }
}

TEST(Json, OfAnInterruptedTrainingSaysSo) {
  for (const bool many : {false, true}) {
    const TemporaryFolder folder;
    Process training(endless(many), {.folder = folder.path()});
    ASSERT_TRUE(training.wait_for("step 10/"));
    training.signal(SIGINT);
    const Outcome found = training.finish();
    EXPECT_EQ(found.code, 130);
    const auto result = last_json(found.out);
    EXPECT_EQ(result["event"], "result");
    EXPECT_EQ(result["error"], "interrupted");
    EXPECT_EQ(result.contains("seeds"), many) << result;
    EXPECT_EQ(result.value("steps", 0) >= 10, !many) << result;
  }
}

}  // namespace
}  // namespace heed
