// The program from outside: heed sample, and what a model says to a terminal.
#include <gmock/gmock.h>
#include <heed/train/cli/output.h>

#include <filesystem>

#include "cli_support.h"
#include "process.h"
#include "pseudo_terminal.h"
#include "support.h"

namespace heed {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

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
  refused({"--prompt", "a", "--top-p", "0"}, "--top-p = 0 must be above 0");
  refused({"--prompt", "a", "--tokens", "-1"}, "-1");
}

TEST(Sample, ChoosesAsItIsTold) {
  const TemporaryFolder folder;
  const Start start{.folder = folder.path()};
  ASSERT_EQ(run_heed(tiny({"--steps", "1"}), start).code, 0);
  const auto sampled = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"sample", "runs", "--prompt", "abc|", "--tokens", "12"});
    const Outcome found = run_heed(words, start);
    EXPECT_EQ(found.code, 0) << found.err;
    return found.out;
  };
  const std::string greedy = sampled({"--greedy"}), drawn = sampled({"--temperature", "1"});
  EXPECT_EQ(sampled({}), greedy);
  for (const char* one : {"--top-k=1", "--top-p=0.0001", "--min-p=1"})
    EXPECT_EQ(sampled({one}), greedy) << one;
  EXPECT_NE(drawn, greedy);
  for (const char* all : {"--top-k=99", "--min-p=0.0001"}) EXPECT_EQ(sampled({all}), drawn) << all;
  EXPECT_NE(sampled({"--temperature", "1", "--seed", "2"}), drawn);
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

TEST(Printable, EscapesWhatActsOnATerminal) {
  EXPECT_EQ(cli::printable("a\tb\nÀ é"), "a\tb\nÀ é");
  EXPECT_EQ(cli::printable("a\tb\nÀ", ""), "a\\tb\\nÀ");
  EXPECT_EQ(cli::printable("\x1b[2J\r\x7f"), "\\x1b[2J\\x0d\\x7f");
  EXPECT_EQ(cli::printable("\xc2\x9b"
                           "31m"),
            "\\x9b31m")
      << "C1, which is an escape in itself";
  EXPECT_EQ(cli::printable("é\xffz\xc3"), "é\\xffz\\xc3");
  EXPECT_EQ(cli::printable(""), "");
}

TEST(Sample, EscapesControlCharactersOnATerminalAlone) {
  const TemporaryFolder folder;
  const Start start{.folder = folder.path()};
  write_file(folder / "text", std::string(200, 'a'));
  ASSERT_EQ(run_heed({"train", "text", "text", "--tokenizer", "bytes", "--context", "8", "--steps",
                      "1", "--d-model", "8"},
                     start)
                .code,
            0);
  const std::vector<std::string> words{
      "sample", (folder / "runs").string(), "--prompt", "\x1b[31mthe", "--tokens", "0"};
  EXPECT_EQ(run_heed(words, start).out, "\x1b[31mthe\n");
  if (!has_pseudo_terminals()) GTEST_SKIP() << kNoPseudoTerminals;
  for (const char* term : {"xterm", "dumb"})
    EXPECT_THAT(on_a_terminal(80, words, term), ElementsAre("\\x1b[31mthe"));
}

}  // namespace
}  // namespace heed
