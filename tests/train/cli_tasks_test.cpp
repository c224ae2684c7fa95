// The program from outside: tasks with options and figures of their own, and the user's own rows.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

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

/// A training of one step of a small model.
std::vector<std::string> step(std::vector<std::string> words) {
  words.insert(words.begin(), "train");
  words.insert(words.end(), {"--steps", "1", "--batch", "2", "--layers", "2", "--heads", "1",
                             "--d-model", "8", "--json"});
  return words;
}

TEST(TaskOptions, AreSavedReadAgainAndEvaluatedWith) {
  const TemporaryFolder folder;
  const Start start{.folder = folder.path()};
  const Outcome trained = run_heed(step({"addition", "--order", "plain"}), start);
  ASSERT_EQ(trained.code, 0) << trained.err;
  const auto run = only_run(folder / "runs");
  EXPECT_THAT(lines_of(read_file(run / "config.toml")), Contains("order = \"plain\""));
  const Outcome evaluated = run_heed({"eval", "runs", "--json"}, start);
  ASSERT_EQ(evaluated.code, 0) << evaluated.err;
  EXPECT_EQ(last_json(evaluated.out)["loss"], last_json(trained.out)["loss"]);

  const auto again = [&](std::vector<std::string> more, const std::string& runs) {
    std::vector<std::string> words{"train", "--config", (run / "config.toml").string()};
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), {"--out", runs});
    EXPECT_EQ(run_heed(words, start).code, 0);
    return last_checkpoint(only_run(folder / runs));
  };
  EXPECT_EQ(again({}, "same"), last_checkpoint(run));
  EXPECT_NE(again({"--order", "reversed"}, "other"), last_checkpoint(run));
}

TEST(TaskOptions, OfAConfigFileAreThoseOfItsTask) {
  const TemporaryFolder folder;
  write_file(folder / "c.toml", "task = \"sort\"\norder = \"plain\"\n");
  const Outcome found = run_heed({"train", "--config", "c.toml"}, {.folder = folder.path()});
  EXPECT_EQ(found.code, 2);
  EXPECT_THAT(lines_of(found.err),
              ElementsAre(HasSubstr("c.toml, line 2: order belongs to addition, not to sort")));
}

TEST(TaskOptions, AreInTheHelpOfTheirTask) {
  EXPECT_THAT(run_heed({"train", "modular", "--help"}).out,
              AllOf(HasSubstr("--fraction"), HasSubstr("[0.4]"), Not(HasSubstr("--alphabet"))));
  EXPECT_THAT(run_heed({"train", "--help"}).out,
              AllOf(HasSubstr("--fraction"), HasSubstr("--alphabet")));
}

TEST(TaskOptions, AreThoseOfTheTaskAndNotOfAFileThatIsCalledLikeOne) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"train", "rows", "sort", "--help"},
        {"train", "--out", "sort", "rows", "--help"},
        {"train", "--config", "sort", "rows", "--help"}})
    EXPECT_THAT(run_heed(words).out, AllOf(HasSubstr("--held-out"), Not(HasSubstr("--digits"))));
}

TEST(Next, SuggestsAPromptWhereSomethingGoesOn) {
  const auto next = [](const std::string& task) {
    const TemporaryFolder folder;
    std::vector<std::string> words = step({task});
    words.pop_back();  // --json
    const std::string out = run_heed(words, {.folder = folder.path()}).out;
    return out.substr(std::min(out.find("Next:"), out.size()));
  };
  EXPECT_THAT(next("parity"), AllOf(HasSubstr(" eval "), Not(HasSubstr("sample"))));
  const std::string markov = next("markov");
  const std::string prompt = markov.substr(markov.find("--prompt ") + 9);
  EXPECT_EQ(prompt.find('\n'), 26u) << "a quarter of 100 states, and one";
}

TEST(Sample, GoesOnToTheEndOfTheAnswer) {
  const auto added = [](const std::string& task, const std::string& prompt) {
    const TemporaryFolder folder;
    const Start start{.folder = folder.path()};
    EXPECT_EQ(run_heed(step({task}), start).code, 0);
    const std::string out = run_heed({"sample", "runs", "--prompt", prompt}, start).out;
    EXPECT_THAT(out, testing::StartsWith(prompt));
    return out.substr(std::min(prompt.size(), out.size()));
  };
  EXPECT_THAT(added("agreement", "the old key near the doors"), testing::MatchesRegex(" [^ ]+\n"));
  EXPECT_THAT(added("recall", "k1 v2 k3 v4 k1"), testing::MatchesRegex(" [kv][0-9]+\n"));
  EXPECT_EQ(added("induction", "zabcdefghijkabc").size(), 8u + 1) << "of a piece of eleven";
  EXPECT_EQ(added("copy", "abcdefghijklmno|abcdefghijklmno"), "\n") << "nothing is left to say";
}

TEST(Figures, AreReportedByTrainAndEval) {
  const TemporaryFolder folder;
  const Start start{.folder = folder.path()};
  const Outcome trained = run_heed(step({"trigger"}), start);
  ASSERT_EQ(trained.code, 0) << trained.err;
  const auto result = last_json(trained.out);
  const auto evaluated = last_json(run_heed({"eval", "runs", "--json"}, start).out);
  const auto metrics = json_lines(read_file(only_run(folder / "runs") / "metrics.jsonl"));
  for (const char* name : {"previous_token", "after_trigger", "output_right"}) {
    EXPECT_TRUE(result[name].is_number()) << name;
    EXPECT_EQ(evaluated[name], result[name]) << name;
    EXPECT_EQ(metrics.back()[name], result[name]) << name;
  }
  EXPECT_THAT(run_heed({"eval", "runs"}, start).out, HasSubstr(", previous token 0."));
}

TEST(Figures, ThatMeasuredNothingAreNotShown) {
  const TemporaryFolder folder;
  std::vector<std::string> words = step({"parity", "--context", "16"});
  words.pop_back();  // --json
  const Outcome trained = run_heed(words, {.folder = folder.path()});
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_THAT(trained.out, AllOf(HasSubstr("loss"), Not(HasSubstr("nan"))));
}

TEST(OwnRows, AreLearntAndAnswered) {
  const TemporaryFolder folder;
  const Start start{.folder = folder.path()};
  std::string rows;
  for (char a = 'a'; a <= 'h'; ++a)
    for (char b = 'a'; b <= 'h'; ++b) rows += std::string{a, b} + "\t" + std::string{b, a} + "\r\n";
  write_file(folder / "swap.tsv", rows);
  const Outcome trained =
      run_heed({"train", "rows", "swap.tsv", "--context", "6", "--steps", "400", "--layers", "2",
                "--heads", "1", "--d-model", "32", "--lr", "0.01", "--json"},
               start);
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_GE(last_json(trained.out)["exact_match"], 0.8);
  EXPECT_EQ(last_json(trained.out)["rows"], 6);
  std::filesystem::remove(folder / "swap.tsv");
  const Outcome sampled = run_heed({"sample", "runs", "--prompt", "ab\t"}, start);
  EXPECT_EQ(sampled.out, "ab\tba\n") << "and nothing after the end of the answer";
}

TEST(OwnRows, OptionsThatMeanNothingAreRefused) {
  const TemporaryFolder folder;
  write_file(folder / "rows.tsv", "a\tb\nb\ta\n");
  const auto refused = [&](std::vector<std::string> words, const std::string& reason) {
    words.insert(words.begin(), {"train", "rows", "rows.tsv"});
    const Outcome found = run_heed(words, {.folder = folder.path()});
    EXPECT_EQ(found.code, 2);
    EXPECT_THAT(lines_of(found.err), ElementsAre(HasSubstr(reason)));
    EXPECT_FALSE(std::filesystem::exists(folder / "runs"));
  };
  refused({"--held-out", "0"}, "--held-out = 0: it must be above 0");
  refused({"--vocabulary", "300"}, "--vocabulary = 300 is for --tokenizer = bpe; that of char");
  refused({"--vocabulary", "300", "--tokenizer", "bytes"}, "that of bytes is what it is");
}

TEST(OwnRows, FaultsEndWithTheCodeOfBadData) {
  const TemporaryFolder folder;
  write_file(folder / "bad.tsv", "a\tb\nno tab\n");
  const Outcome found = run_heed({"train", "rows", "bad.tsv"}, {.folder = folder.path()});
  EXPECT_EQ(found.code, 3);
  EXPECT_THAT(lines_of(found.err), ElementsAre(HasSubstr("bad.tsv, line 2: it has no tab")));
  EXPECT_FALSE(std::filesystem::exists(folder / "runs"));
}

TEST(Tokenizers, TravelInTheCheckpoint) {
  for (const char* kind : {"bytes", "bpe"}) {
    const TemporaryFolder folder;
    const Start start{.folder = folder.path()};
    std::string poem;
    for (int i = 0; i < 80; ++i) poem += "the cät sat on the mat\n";
    write_file(folder / "poem.txt", poem);
    std::vector<std::string> words = step({"text", "poem.txt", "--context", "8"});
    words.insert(words.end(), {"--tokenizer", kind});
    if (kind == std::string("bpe")) words.insert(words.end(), {"--vocabulary", "270"});
    const Outcome trained = run_heed(words, start);
    ASSERT_EQ(trained.code, 0) << trained.err;
    EXPECT_EQ(run_heed({"eval", "runs"}, start).code, 0);
    std::filesystem::remove(folder / "poem.txt");
    const Outcome sampled =
        run_heed({"sample", "runs", "--prompt", "Zürich", "--tokens", "9"}, start);
    EXPECT_EQ(sampled.code, 0) << sampled.err;
    EXPECT_THAT(sampled.out, testing::StartsWith("Zürich"));
  }
}

}  // namespace
}  // namespace heed
