#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heed/autograd/error.h>
#include <heed/data/data.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "support.h"

namespace heed {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// Ten words with their lengths.
std::string ten_rows() {
  std::string rows;
  for (std::size_t i = 1; i <= 10; ++i)
    rows += std::string(i, 'x') + "\t" + std::to_string(i) + "\n";
  return rows;
}

class Rows : public testing::Test {
 protected:
  std::unique_ptr<Task> make(const std::string& rows, TaskOptions options = {}) {
    options.file = folder_.write("rows.tsv", rows);
    return make_task("rows", options);
  }
  std::string refused(const std::string& rows, const TaskOptions& options = {}) {
    return message_of<FileError>([&] { make(rows, options); });
  }

  const TemporaryFolder folder_;
};

TEST_F(Rows, AskForTheTargetAndItsEnd) {
  const auto task = make("ab\tcde\nf\tg\n", {.context = 8});
  Rng rng(1);
  std::set<std::string> seen;
  for (const Batch& batch : {task->sample(5, rng), task->held_out(0, 1)}) {
    const auto inputs = rows(*task, batch.inputs), targets = rows(*task, batch.targets);
    seen.insert(inputs[0]);
    if (inputs[0][0] == 'a') {
      EXPECT_EQ(inputs[0], "ab\tcde\n\n");
      EXPECT_EQ(targets[0], "··cde\n··");
    } else {
      EXPECT_EQ(inputs[0], "f\tg\n\n\n\n\n");
      EXPECT_EQ(targets[0], "·g\n·····");
    }
  }
  EXPECT_EQ(seen.size(), 2u) << "one is trained on, the other held out";
}

TEST_F(Rows, EndsOfLinesAndAMarkDoNotMatter) {
  const auto plain = make(ten_rows());
  std::string windows = "\xef\xbb\xbf";
  for (const char c : ten_rows()) windows += c == '\n' ? std::string("\r\n") : std::string(1, c);
  const auto same = make(windows + "\r\n\r\n");
  EXPECT_EQ(same->tokenizer().save(), plain->tokenizer().save());
  EXPECT_EQ(same->held_out(0, 1).inputs.to_vector(), plain->held_out(0, 1).inputs.to_vector());
}

TEST_F(Rows, PairsOfOneInputStayTogether) {
  std::string twice;
  for (const char c : ten_rows()) twice += c;
  const auto task = make(twice + twice, {.chosen = {{"held-out", "0.3"}}});
  EXPECT_EQ(task->held_out_rows(), 6);
  std::set<std::string> held;
  for (const std::string& row : rows(*task, task->held_out(0, 6).inputs)) held.insert(row);
  EXPECT_EQ(held.size(), 3u);
  Rng rng(2);
  std::set<std::string> trained;
  for (const std::string& row : rows(*task, task->sample(500, rng).inputs)) {
    EXPECT_FALSE(held.contains(row));
    trained.insert(row);
  }
  EXPECT_EQ(trained.size(), 7u);
}

TEST_F(Rows, SomeAreHeldOutHoweverFewThereAre) {
  EXPECT_EQ(make("a\tb\nc\td\n", {.chosen = {{"held-out", "0.001"}}})->held_out_rows(), 1);
  EXPECT_EQ(make("a\tb\nc\td\n", {.chosen = {{"held-out", "0.99"}}})->held_out_rows(), 1);
  EXPECT_THAT(refused("a\tb\n"), HasSubstr("all rows have one input"));
  EXPECT_THAT(refused("a\tb\na\tc\n"), HasSubstr("all rows have one input"));
}

TEST_F(Rows, FaultsAreNamedWithTheirLine) {
  EXPECT_THAT(refused("a\tb\nno tab\n"),
              AllOf(HasSubstr("rows.tsv, line 2: it has no tab; a row is input<TAB>target")));
  EXPECT_THAT(refused("a\tb\n\nc\td\n"), HasSubstr("line 2: it is empty"));
  EXPECT_THAT(refused("a\tb\tc\n"), HasSubstr("line 1: it has 2 tabs"));
  EXPECT_THAT(refused("a\tb\n\tb\n"), HasSubstr("line 2: there is nothing before the tab"));
  EXPECT_THAT(refused("a\tb\nc\t\n"), HasSubstr("line 2: there is nothing after the tab"));
  EXPECT_THAT(refused("a\tb\n\xe9\tb\n"),
              AllOf(HasSubstr("line 2: not UTF-8"), HasSubstr("offset 4")));
  EXPECT_THAT(refused("\n\n"), HasSubstr("has no rows"));
  EXPECT_THAT(refused(""), HasSubstr("is empty"));
  EXPECT_THAT(refused("a\tb\nlonger\trow\nc\td\n", {.context = 9}),
              AllOf(HasSubstr("line 2: the row has 11 tokens"), HasSubstr("choose --context 10")));
  EXPECT_EQ(make("a\tb\nlonger\trow\n", {.context = 10})->held_out_rows(), 1);
}

TEST_F(Rows, AnyTokenizerServes) {
  for (const std::string kind : {"characters", "bytes", "bpe"}) {
    const auto task = make(ten_rows() + "é\té\n", {.chosen = {{"tokenizer", kind}}});
    const Batch batch = task->held_out(0, 1);
    const std::string inputs = task->decode(batch.inputs.data());
    EXPECT_THAT(inputs, HasSubstr("\t"));
    EXPECT_EQ(task->encode(inputs), batch.inputs.to_vector()) << "no token crosses a tab or an end";
    const std::int64_t least = kind == "characters" ? 14 : kind == "bytes" ? 256 : 257;
    EXPECT_GE(task->vocabulary(), least) << kind;
  }
  EXPECT_THROW(make(ten_rows(), {.chosen = {{"tokenizer", "word"}}}), ValueError);
  EXPECT_THROW(make(ten_rows(), {.chosen = {{"vocabulary", "255"}}}), ValueError);
}

TEST_F(Rows, UnigramIsOfTheHeldOutTargets) {
  const auto task = make("a\tb\nc\tb\n");  // asks for b and the end
  EXPECT_NEAR(task->baselines().at(1).loss, std::log(2), 1e-12);
}

}  // namespace
}  // namespace heed
