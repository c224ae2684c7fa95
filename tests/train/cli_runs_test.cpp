// The program from outside: what a training is made with, and what is made of several.
#include <gmock/gmock.h>
#include <heed/train/cli/seeds.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "cli_support.h"
#include "process.h"
#include "support.h"

namespace heed {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

std::ptrdiff_t runs_in(const std::filesystem::path& folder) {
  return std::distance(std::filesystem::directory_iterator(folder), {});
}

// ---- optimizers, schedules, the average

TEST(TrainingWith, EveryOptimizerAndScheduleLearnsAnotherWay) {
  const TemporaryFolder folder;
  const auto loss = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"--json", "--warmup", "2"});
    const Outcome found = run_heed(tiny(more), {.folder = folder.path()});
    EXPECT_EQ(found.code, 0) << found.err;
    return last_json(found.out)["loss"].get<double>();
  };
  std::vector<double> losses{loss({})};
  for (const char* optimizer : {"sgd", "nesterov", "adam", "rmsprop", "lion", "muon"})
    losses.push_back(loss({"--optimizer", optimizer}));
  for (const char* schedule : {"linear", "cosine", "wsd", "step", "noam"})
    losses.push_back(loss({"--schedule", schedule}));
  losses.push_back(loss({"--schedule", "step", "--period", "5"}));
  losses.push_back(loss({"--schedule", "step", "--factor", "0.9"}));
  losses.push_back(loss({"--beta1", "0.5"}));
  losses.push_back(loss({"--optimizer", "sgd", "--momentum", "0.5"}));
  losses.push_back(loss({"--decays", "all", "--weight-decay", "9"}));
  losses.push_back(loss({"--decays", "weights", "--weight-decay", "9"}));
  losses.push_back(loss({"--groups", "*embedding* lr=3; *.bias decay=1"}));
  losses.push_back(loss({"--ema", "0.9"}));
  EXPECT_EQ(loss({"--groups", "none"}), losses.front()) << "as --help shows its default";
  std::ranges::sort(losses);
  EXPECT_EQ(std::ranges::adjacent_find(losses), losses.end()) << testing::PrintToString(losses);
}

TEST(TrainingWith, AnAverageIsWhatIsSavedAndEvaluated) {
  const TemporaryFolder folder;
  const Start start{.folder = folder.path()};
  const Outcome trained = run_heed(tiny({"--ema", "0.9", "--json"}), start);
  const Outcome again = run_heed({"eval", "runs", "--json"}, start);
  EXPECT_EQ(last_json(trained.out)["loss"], last_json(again.out)["loss"]);
  EXPECT_THAT(lines_of(read_file(only_run(folder / "runs") / "config.toml")),
              AllOf(Contains("ema = 0.9"), Contains("optimizer = \"adamw\""),
                    Contains("groups = \"none\"")));
}

// ---- several seeds

TEST(Seeds, EachHasItsRunAndTheMedianIsSaid) {
  const TemporaryFolder folder;
  const Start start{.folder = folder.path()};
  const Outcome found = run_heed(tiny({"--seeds", "1,2,7", "--json"}), start);
  ASSERT_EQ(found.code, 0) << found.err;
  EXPECT_EQ(runs_in(folder / "runs"), 3);
  std::vector<double> losses;
  std::vector<std::int64_t> seeds;
  for (const auto& line : json_lines(found.out))
    if (line["event"] == "run") {
      losses.push_back(line["loss"]);
      seeds.push_back(line["seed"]);
      EXPECT_TRUE(std::filesystem::is_directory(folder / line["run"].get<std::string>()));
    }
  EXPECT_THAT(seeds, ElementsAre(1, 2, 7));
  std::ranges::sort(losses);
  const auto result = last_json(found.out);
  EXPECT_EQ(result["event"], "result");
  EXPECT_EQ(result["seeds"], (std::vector{1, 2, 7}));
  EXPECT_EQ(result["loss_low"], losses[0]);
  EXPECT_EQ(result["loss"], losses[1]);
  EXPECT_EQ(result["loss_high"], losses[2]);
  EXPECT_LT(losses[0], losses[2]);

  const Outcome alone = run_heed(tiny({"--seed", "7", "--json", "--out", "one"}), start);
  EXPECT_THAT(losses, Contains(last_json(alone.out)["loss"].get<double>()));
}

TEST(Seeds, SpreadIsMedianAndRange) {
  const auto spread = [](std::vector<double> values) {
    const cli::Spread found = cli::spread_of(std::move(values));
    return std::vector{found.median, found.low, found.high};
  };
  EXPECT_THAT(spread({5}), ElementsAre(5, 5, 5));
  EXPECT_THAT(spread({9, 1, 4}), ElementsAre(4, 1, 9));
  EXPECT_THAT(spread({9, 1, 4, 2}), ElementsAre(3, 1, 9));
  EXPECT_TRUE(std::isnan(spread({1, std::nan("")})[1]));
}

TEST(Seeds, ArePeoplesTableToo) {
  const TemporaryFolder folder;
  const Outcome found = run_heed(tiny({"--seeds", "3,4"}), {.folder = folder.path()});
  EXPECT_EQ(found.code, 0);
  EXPECT_THAT(found.out, AllOf(HasSubstr("copy with seed 3 after 20 steps"),
                               HasSubstr("copy with the seeds 3, 4:"), HasSubstr("highest\nloss "),
                               Not(HasSubstr("Next:"))));
}

TEST(Seeds, FiguresOfTheTaskHaveTheirRange) {
  const TemporaryFolder folder;
  const Start start{.folder = folder.path()};
  const std::vector<std::string> words{"train", "parity",  "--steps", "3",       "--d-model",
                                       "8",     "--batch", "4",       "--seeds", "1,2"};
  const Outcome table = run_heed(words, start);
  ASSERT_EQ(table.code, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("\naccuracy_beyond "));

  std::vector<std::string> as_json = words;
  as_json.push_back("--json");
  std::vector<double> figures;
  const Outcome found = run_heed(as_json, start);
  for (const auto& line : json_lines(found.out))
    if (line["event"] == "run") figures.push_back(line["accuracy_beyond"]);
  ASSERT_EQ(figures.size(), 2u);
  const auto result = last_json(found.out);
  EXPECT_EQ(result["accuracy_beyond_low"], std::min(figures[0], figures[1]));
  EXPECT_EQ(result["accuracy_beyond_high"], std::max(figures[0], figures[1]));
  EXPECT_EQ(result["accuracy_beyond"], (figures[0] + figures[1]) / 2);
}

// ---- a check: can it learn at all?

TEST(Overfit, LearnsABatchByHeartOrSaysThatItDidNot) {
  const TemporaryFolder folder;
  const Start start{.folder = folder.path()};
  const Outcome learnt =
      run_heed(tiny({"--overfit", "1", "--steps", "300", "--lr", "0.02"}), start);
  EXPECT_EQ(learnt.code, 0) << learnt.out;
  EXPECT_THAT(learnt.out, AllOf(HasSubstr("4 fixed rows: loss"), HasSubstr("\nmemorised: every")));
  EXPECT_THAT(learnt.err, AllOf(HasSubstr("  fixed: loss"), Not(HasSubstr("unseen"))));

  const Outcome not_learnt = run_heed(tiny({"--overfit", "2", "--steps", "1", "--json"}), start);
  EXPECT_EQ(not_learnt.code, 4);
  EXPECT_EQ(last_json(not_learnt.out)["memorised"], false);
  EXPECT_THAT(run_heed(tiny({"--overfit", "2", "--steps", "1"}), start).out,
              HasSubstr("not memorised: of the targets 100.00 % can be known"));
  EXPECT_EQ(run_heed(tiny({"--overfit", "1", "--steps", "1", "--seeds", "1,2"}), start).code, 4);
}

// ---- what a training starts with

TEST(Explain, ShowsShapesParametersAndARowAndWritesNothing) {
  const TemporaryFolder folder;
  for (const char* dropout : {"0", "0.5"}) {
    const Outcome found =
        run_heed(tiny({"--explain", "--dropout", dropout}), {.folder = folder.path()});
    EXPECT_EQ(found.code, 0) << found.err;
    EXPECT_THAT(found.err, IsEmpty());
    EXPECT_THAT(found.out,
                AllOf(HasSubstr("tokens (4, 6) become logits (4, 6, 17)"),
                      HasSubstr("blocks.0.attention.w_q.weight"), HasSubstr("(4, 6, 8)"),
                      HasSubstr("attention("), HasSubstr("the query at position 3, token |"),
                      HasSubstr("scaled = score * 0.5;"), Not(HasSubstr("hidden")),
                      HasSubstr("values, channels 0 to 3")));
    const std::size_t at = found.out.find("differ from these by at most ");
    ASSERT_NE(at, std::string::npos);
    EXPECT_LT(std::stod(found.out.substr(at + 29)), 1e-6);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Explain, TokensAreOnOneLineAndKeysEndWithTheLastOneSeen) {
  const TemporaryFolder folder;
  std::string book;
  for (int i = 0; i < 200; ++i) book += "a\tb\nc d";
  write_file(folder / "book.txt", book);
  const Outcome found =
      run_heed({"train", "text", (folder / "book.txt").string(), "--tokenizer", "bytes",
                "--context", "16", "--d-model", "8", "--batch", "1", "--explain"},
               {.folder = folder.path()});
  EXPECT_EQ(found.code, 0) << found.err;
  EXPECT_THAT(found.out, AllOf(HasSubstr("U+0009"), HasSubstr("\\n "), HasSubstr("' '"),
                               Not(HasSubstr("\t"))));
  EXPECT_THAT(found.out, AllOf(HasSubstr("the query at position 7,"), HasSubstr("\n       7  "),
                               Not(HasSubstr("\n       8  ")), Not(HasSubstr("hidden"))));
}

TEST(Explain, SaysWhatPositionsDo) {
  EXPECT_THAT(run_heed(tiny({"--explain", "--positions", "alibi"})).out,
              AllOf(HasSubstr("bias = -0.0625 * the distance from position 3"),
                    HasSubstr("score      bias    scaled"), HasSubstr("   -0.1875 ")));
  EXPECT_THAT(run_heed(tiny({"--explain", "--positions", "rotary"})).out,
              AllOf(HasSubstr("channels c and c + 2 turn by position * [1, 0.01] radians"),
                    HasSubstr("turned by [3.0000, 0.0300]\nkey of position 0 before = ")));
  EXPECT_THAT(run_heed(tiny({"--explain"})).out, Not(HasSubstr("turned by")));
}

TEST(Explain, AgreesWithTheLayerOfEveryKind) {
  for (const std::vector<std::string>& kind : std::vector<std::vector<std::string>>{
           {"--positions", "rotary", "--kv-heads", "1"},
           {"--positions", "alibi"},
           {"--mask", "none", "--scale", "none", "--activation", "none", "--norm", "none"}}) {
    std::vector<std::string> words{"--explain"};
    words.insert(words.end(), kind.begin(), kind.end());
    const Outcome found = run_heed(tiny(words));
    EXPECT_EQ(found.code, 0) << found.err;
    const std::size_t at = found.out.find("differ from these by at most ");
    ASSERT_NE(at, std::string::npos) << found.out;
    EXPECT_LT(std::stod(found.out.substr(at + 29)), 1e-6) << kind[1];
  }
}

}  // namespace
}  // namespace heed
