// heed gradcheck from outside.
#include <gmock/gmock.h>
#include <heed/tests/gradients/wrong_op.h>
#include <heed/train/cli/commands.h>
#include <heed/train/cli/output.h>

#include "cli_support.h"
#include "pseudo_terminal.h"
#include "screen.h"

namespace heed {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ContainsRegex;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Le;
using testing::MatchesRegex;
using testing::Not;
using testing::ResultOf;
using testing::StartsWith;

TEST(GradcheckCommand, AloneListsOpsByFamilyAndLayers) {
  const Outcome found = run_heed({"gradcheck"});
  EXPECT_EQ(found.code, 0);
  EXPECT_THAT(lines_of(found.out),
              AllOf(Contains("softmax: softmax log_softmax"),
                    Contains(AllOf(StartsWith("layers: "), HasSubstr(" MultiHeadAttention"))),
                    Contains(AllOf(StartsWith("not differentiable: "), HasSubstr(" argmax")))));
  auto lines = json_lines(run_heed({"gradcheck", "--json"}).out);
  const nlohmann::json result = lines.back();
  lines.pop_back();
  EXPECT_EQ(result["subjects"], lines.size());
  for (const auto& line : lines) EXPECT_EQ(line.size(), 4u);
}

TEST(GradcheckCommand, ChecksWhatIsNamedInPlainLines) {
  const Outcome found = run_heed({"gradcheck", "softmax", "Linear", "argmax"});
  EXPECT_EQ(found.code, 0) << found.err;
  EXPECT_THAT(
      lines_of(found.out),
      ElementsAre(MatchesRegex("softmax: ok, order 2, 10 variants, [0-9]+ elements, worst relative "
                               "error [0-9.]+e-[0-9]+, 0.[0-9]+ s"),
                  StartsWith("Linear: ok, order 2, 5 variants"), "argmax: not differentiable",
                  StartsWith("2 checked to order 2, 0 failed, ")));
  EXPECT_THAT(found.err, IsEmpty());
}

TEST(GradcheckCommand, ChecksEverythingToTheOrderAsked) {
  for (const std::int64_t order : {1, 2}) {
    const Outcome found =
        run_heed({"gradcheck", "--all", "--order", std::to_string(order), "--json"});
    EXPECT_EQ(found.code, 0) << found.out;
    auto lines = json_lines(found.out);
    const nlohmann::json result = lines.back();
    lines.pop_back();
    EXPECT_EQ(result["event"], "result");
    EXPECT_EQ(result["failed"], 0);
    EXPECT_EQ(result["order"], order);
    EXPECT_GT(result["seconds"], 0);
    std::int64_t checked = 0;
    for (const auto& line : lines) {
      EXPECT_EQ(line["event"], "check");
      if (line["verdict"] == "not differentiable") continue;
      ++checked;
      EXPECT_EQ(line["verdict"], "ok");
      EXPECT_EQ(line["order"], order);
      EXPECT_GT(line["elements"], 0) << line;
      EXPECT_LT(line["relative_error"], 1e-5) << line;
    }
    EXPECT_EQ(result["checked"], checked);
    EXPECT_GT(checked, 80);
  }
}

TEST(GradcheckCommand, TheSeedChangesTheNumbersAndNothingElse) {
  const auto error_of_seed = [](const std::string& seed) {
    const auto lines = json_lines(run_heed({"gradcheck", "tanh", "--json", "--seed", seed}).out);
    return lines.front()["relative_error"].get<double>();
  };
  EXPECT_EQ(error_of_seed("3"), error_of_seed("3"));
  EXPECT_NE(error_of_seed("3"), error_of_seed("4"));
}

TEST(GradcheckCommand, RefusesWhatItDoesNotKnow) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> refused = {
      {{"softmx"}, "unknown op or layer \"softmx\"; did you mean \"softmax\"?"},
      {{"softmax", "Multiheadattention"}, "did you mean \"MultiHeadAttention\"?"},
      {{"softmax", "--order", "3"}, "--order = 3 is out of range"},
      {{"softmax", "--order", "0"}, "--order = 0 is out of range"},
      {{"softmax", "--all"}, "--all"},
      {{"--al"}, "did you mean \"--all\"?"}};
  for (const auto& [words, says] : refused) {
    std::vector<std::string> all = {"gradcheck"};
    all.insert(all.end(), words.begin(), words.end());
    const Outcome found = run_heed(all);
    EXPECT_EQ(found.code, 2);
    EXPECT_THAT(lines_of(found.err), ElementsAre(AllOf(StartsWith("heed: "), HasSubstr(says))));
    EXPECT_THAT(found.out, IsEmpty());
  }
}

/// The command with a wrong op among those it knows: its exit code and what it wrote.
Outcome run_with_wrong_op(const std::vector<std::string>& words) {
  CLI::App program;
  cli::Action action;
  cli::add_gradcheck(program, action, checks::wrong_op);
  std::vector<std::string> reversed(words.rbegin(), words.rend());  // as CLI11 takes them
  program.parse(reversed);
  Outcome outcome;
  testing::internal::CaptureStdout();
  outcome.code = action();
  outcome.out = testing::internal::GetCapturedStdout();
  return outcome;
}

TEST(GradcheckCommand, AWrongGradientIsNamedAndEndsIn4) {
  const Outcome found = run_with_wrong_op({"gradcheck", "--all"});
  EXPECT_EQ(found.code, 4);
  EXPECT_THAT(lines_of(found.out),
              ElementsAre(StartsWith("tanh: failed, order 2, 1 variant"),
                          StartsWith("tanh(Tensor), wrong: gradcheck: order 1 is wrong in 3 of 3"),
                          StartsWith("exp: ok"), StartsWith("2 checked to order 2, 1 failed")));
  EXPECT_EQ(run_with_wrong_op({"gradcheck", "exp"}).code, 0);

  const Outcome json = run_with_wrong_op({"gradcheck", "--all", "--json"});
  EXPECT_EQ(json.code, 4);
  const auto lines = json_lines(json.out);
  EXPECT_EQ(lines[0]["verdict"], "failed");
  EXPECT_THAT(lines[0]["message"].get<std::string>(), HasSubstr("order 1 is wrong"));
  EXPECT_EQ(lines.back()["checked"], 2);
  EXPECT_EQ(lines.back()["failed"], 1);
}

TEST(GradcheckCommand, IsATableOnATerminalThatHasTheRoom) {
  if (!has_pseudo_terminals()) GTEST_SKIP() << kNoPseudoTerminals;
  const std::vector<std::string> words = {"gradcheck", "softmax", "argmax",
                                          "scaled_dot_product_attention"};
  const auto lines = on_a_terminal(80, words);
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_THAT(lines[0],
              MatchesRegex("op or layer +variants +order +error +elements +time  verdict"));
  EXPECT_THAT(lines[1],
              ContainsRegex("^softmax +10 +2 +[0-9.]+e-[0-9]+ +[0-9]+ +0.[0-9]+ s  .*ok"));
  EXPECT_THAT(lines[1], HasSubstr("\x1b[38;5;"));
  EXPECT_THAT(lines[2], MatchesRegex("argmax +not differentiable"));
  EXPECT_THAT(lines[3], StartsWith("scaled_dot_product_attention "));
  for (const int columns : {80, 63, 40, 7})
    EXPECT_THAT(on_a_terminal(columns, words), Each(ResultOf(columns_of, Le(columns)))) << columns;
  EXPECT_THAT(on_a_terminal(63, words)[3], StartsWith("scaled_dot_~ "));
  EXPECT_THAT(on_a_terminal(80, {"gradcheck", "relu"})[0], StartsWith("op or layer "));
  EXPECT_THAT(on_a_terminal(80, words, "dumb"), Each(Not(HasSubstr("\x1b"))));
}

}  // namespace
}  // namespace heed
