// The program from outside: what it does with command lines and config files it cannot follow.
#include <gmock/gmock.h>

#include <filesystem>

#include "cli_support.h"
#include "process.h"
#include "support.h"

namespace heed {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

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
                "--heads = 3 does not divide --d-model = 32"},
        Refused{{"train", "copy", "--steps", "-1"},
                2,
                "--steps = -1 is out of range: it must be a whole number from 0 to 1000000000000"},
        Refused{{"train", "copy", "--steps", "1.5"}, 2, "--steps = 1.5: it must be a whole number"},
        Refused{{"train", "copy", "--steps", "99999999999999999999"},
                2,
                "--steps = 99999999999999999999 is out of range"},
        Refused{{"train", "copy", "--steps", "0x5"}, 2, "--steps = 0x5: it must be a whole number"},
        Refused{{"train", "copy", "--steps"}, 2, "--steps needs a value; see"},
        Refused{{"train", "copy", "--lr", "1e400"}, 2, "--lr = 1e400 is out of range"},
        Refused{{"train", "copy", "--layers", "0"}, 2, "from 1 to 1000"},
        Refused{{"train", "copy", "--threads", "0"}, 2, "a whole number from 1 to 256"},
        Refused{{"train", "copy", "--threads", "257"}, 2, "--threads = 257 is out of range"},
        Refused{{"train", "copy", "--threads", "two"}, 2, "--threads = two"},
        Refused{{"train", "copy", "--lr", "fast"},
                2,
                "--lr = fast: it must be a finite number, 0 or more"},
        Refused{{"train", "copy", "--lr", "nan"}, 2, "--lr = nan"},
        Refused{{"train", "copy", "--lr", "inf"}, 2, "--lr = inf"},
        Refused{{"train", "copy", "--lr", "0,001"}, 2, "--lr = 0,001"},
        Refused{{"train", "copy", "--lr", ""}, 2, "--lr = : it must be"},
        Refused{{"train", "copy", "--min-lr", "1"}, 2, "--min-lr = 1 is above --lr = 0.003"},
        Refused{
            {"train", "copy", "--schedule", "cosin"},
            2,
            "--schedule = cosin: it must be constant, linear, cosine, wsd, step or noam; did you "
            "mean \"cosine\"?"},
        Refused{
            {"train", "copy", "--optimizer", "adagrad"},
            2,
            "--optimizer = adagrad: it must be sgd, nesterov, adam, adamw, rmsprop, lion or muon"},
        Refused{{"train", "copy", "--optimizer", "nesterov", "--momentum", "0"},
                2,
                "--momentum = 0: it must be above 0"},
        Refused{{"train", "copy", "--momentum", "1"}, 2, "--momentum = 1 is out of range"},
        Refused{{"train", "copy", "--beta1", "1"}, 2, "--beta1 = 1 is out of range"},
        Refused{{"train", "copy", "--ema", "1"}, 2, "--ema = 1 is out of range"},
        Refused{{"train", "copy", "--period", "-1"}, 2, "--period = -1 is out of range"},
        Refused{{"train", "copy", "--factor", "1.5"}, 2, "--factor = 1.5 is out of range"},
        Refused{{"train", "copy", "--factor", "0"}, 2, "--factor = 0: it must be above 0"},
        Refused{{"train", "copy", "--decays", "biases"},
                2,
                "--decays = biases: it must be matrices, weights or all"},
        Refused{
            {"train", "copy", "--groups", "*.bias"}, 2, "--groups = \"*.bias\": it says nothing"},
        Refused{{"train", "copy", "--groups", "*.baias lr=2"},
                2,
                "--groups = \"*.baias\" holds no parameter"},
        Refused{{"train", "copy", "--groups", "* lr=1 lr=2"}, 2, "\"lr\" is given twice"},
        Refused{{"train", "copy", "--overfit", "-1"}, 2, "--overfit = -1 is out of range"},
        Refused{{"train", "copy", "--overfit", "1000000"},
                2,
                "--overfit = 1000000: batches of 32 rows of 30 positions are 9.6e+08 tokens"},
        Refused{{"train", "copy", "--seeds", "1,x"}, 2, "--seeds = x: it must be a whole number"},
        Refused{{"train", "copy", "--seeds", ""}, 2, "--seeds"},
        Refused{{"train", "copy", "--seeds", "1,"}, 2, "--seeds = \"1,\": they are numbers"},
        Refused{{"train", "copy", "--seeds", "1,2,1"}, 2, "--seeds = 1,2,1: 1 comes twice"},
        Refused{{"train", "copy", "--seeds", "1,2", "--seed", "3"}, 2, "excludes"},
        Refused{{"train", "copy", "--explain", "--json"}, 2, "excludes"},
        Refused{{"train", "copy", "--explain", "--seeds", "1,2"}, 2, "excludes"},
        Refused{{"train", "copy", "--explain", "--watch"}, 2, "excludes"},
        Refused{{"sample", ".", "--prompt", "a", "--top-p", "2"}, 2, "--top-p = 2 is out of range"},
        Refused{{"sample", ".", "--prompt", "a", "--min-p", "-1"}, 2, "--min-p = -1"},
        Refused{{"sample", ".", "--prompt", "a", "--greedy", "--top-k", "2"}, 2, "excludes"},
        Refused{{"train", "copy", "--beta2", "1"}, 2, "--beta2 = 1"},
        Refused{{"train", "copy", "--positions", "absolute"},
                2,
                "--positions = absolute: it must be learned, sinusoidal, rotary, alibi or none"},
        Refused{{"train", "copy", "--positions", "rotary", "--d-model", "6"},
                2,
                "--positions = rotary turns pairs of channels, but d_model / heads = 3 is odd"},
        Refused{{"train", "copy", "--norm", "front"},
                2,
                "--norm = front: it must be pre, post or none"},
        Refused{{"train", "copy", "--norm-kind", "batch"},
                2,
                "--norm-kind = batch: it must be layer or rms"},
        Refused{
            {"train", "copy", "--activation", "tanh"}, 2, "--activation = tanh: it must be gelu,"},
        Refused{{"train", "copy", "--scale", "0"}, 2, "--scale = 0: it must be sqrt"},
        Refused{{"train", "copy", "--scale", "wide"}, 2, "--scale = wide: it must be sqrt"},
        Refused{{"train", "copy", "--mask", "all"}, 2, "--mask = all: it must be causal or none"},
        Refused{{"train", "copy", "--kv-heads", "3"}, 2, "--kv-heads = 3 must divide --heads = 2"},
        Refused{{"train", "copy", "--kv-heads", "-1"}, 2, "--kv-heads = -1 is out of range"},
        Refused{{"train", "copy", "--tied", "yes"}, 2, "--tied = yes: it must be true or false"},
        Refused{{"train", "copy", "--context", "31"}, 2, "--context = 31"},
        Refused{{"train", "copy", "--alphabet", "1"}, 2, "--alphabet = 1 is out of range"},
        Refused{
            {"train", "sort", "--alphabet", "2"},
            2,
            "--alphabet belongs to copy, reverse, induction or selective-copy, not to sort; see"},
        Refused{{"train", "copy", "--pairs=3"}, 2, "--pairs belongs to recall, not to copy; see"},
        Refused{{"train", "copy", "--steps", "--lr", "1"},
                2,
                "--steps needs a value, but --lr follows it; see"},
        Refused{{"sample", ".", "--prompt", "--tokens", "5"},
                2,
                "--prompt needs a value, but --tokens follows it"},
        Refused{{"train", "copy", "--out", "--jsn"},
                2,
                "--out needs a value, but --jsn follows it; did you mean \"--json\"? If not, write "
                "--out=--jsn"},
        Refused{{"train", "copy", "--out", "--"}, 2, "--out needs a value, but -- follows it"},
        Refused{{"sample", ".", "--prompt", "--top-k 5"}, 3, "no run at ."},
        Refused{{"sample", ".", "--prompt=--tokens"}, 3, "no run at ."},
        Refused{{"sample", ".", "--prompt=--tokens", "--seed", "--tokens"},
                2,
                "--seed needs a value, but --tokens follows it"},
        Refused{{"train", "rows", "none.tsv", "--held-out", "-0"},
                2,
                "heed: --held-out = 0: it must be above 0; the smallest share is one input"},
        Refused{{"eval", ".", "--rows", "--json"}, 2, "--rows needs a value, but --json follows"},
        Refused{{"bench", "step", "--model", "--json"}, 2, "--model needs a value, but --json"},
        Refused{{"train", "copy", "--optimizer", "adm"}, 2, "did you mean \"adam\"?"},
        Refused{{"train", "copy", "--positions", "rotery"}, 2, "did you mean \"rotary\"?"},
        Refused{{"train", "copy", "--scale", "nne"}, 2, "did you mean \"none\"?"},
        Refused{{"train", "copy", "--scale", "1e300"}, 2, "--scale = 1e300: it must be sqrt"},
        Refused{{"train", "copy", "--scale", "1e-7"}, 2, "none or a number from 1e-06 to 1e+06"},
        Refused{{"train", "addition", "--order", "plan"},
                2,
                "--order = plan: it must be reversed or plain; did you mean \"plain\"?"},
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
        Refused{{"tasks", "cpoy"}, 2, "did you mean \"copy\"?"},
        Refused{{"eval", ".", "--file", ""}, 2, "--file needs a value"},
        Refused{{"eval", ".", "--file", "a", "--file", "b"}, 2, "--file may be given once"},
        Refused{{"train", "\x1b[31mx\xff"}, 2, "unknown task \"\\x1b[31mx\\xff\""}));

TEST(CommandLine, RefusesConfigFilesByLine) {
  const TemporaryFolder folder;
  const std::vector<std::pair<std::string, std::string>> files{
      {"lr = 0.1\nlyers = 3\n",
       "c.toml, line 2: unknown setting \"lyers\"; did you mean \"layers\"?"},
      {"pairs = 3", "line 1: pairs belongs to recall, not to copy"},
      {"optimizer = 'adm'", "line 1: optimizer = adm: it must be sgd,"},
      {"layers = 0", "line 1: layers = 0 is out of range: it must be"},
      {"just words", "line 1: expected ="},
      {"layers 3", "line 1: expected ="},
      {"layers = 3 4", "line 1: expected the end of the line"},
      {"layers =", "line 1: expected a value"},
      {"file = \"a", "line 1: expected a \" at the end"},
      {"file = \"\\q\"", "line 1: expected one of"},
      {"\n[model]\nlayers = 3", "line 3: there is no section [model]"},
      {"heads = 5", "heed: heads = 5 does not divide"}};
  for (const auto& [config, reason] : files) {
    write_file(folder / "c.toml", config);
    const Outcome found =
        run_heed({"train", "copy", "--config", "c.toml"}, {.folder = folder.path()});
    EXPECT_EQ(found.code, 2) << config;
    EXPECT_THAT(lines_of(found.err), ElementsAre(HasSubstr(reason)));
  }
}

}  // namespace
}  // namespace heed
