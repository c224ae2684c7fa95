#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heed/autograd/error.h>
#include <heed/data/data.h>
#include <heed/data/letters.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "support.h"

namespace heed {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(Registry, HeedsOwnTasksComeFirst) {
  const std::vector<std::string> own = {
      "copy",    "reverse", "sort",           "addition", "modular", "induction", "markov",
      "trigger", "recall",  "selective-copy", "dyck",     "parity",  "agreement", "text"};
  ASSERT_GE(tasks().size(), own.size());
  for (std::size_t i = 0; i < own.size(); ++i) EXPECT_EQ(tasks()[i].name, own[i]);
}

TEST(Registry, EveryTaskIsDescribedOnOneScreen) {
  for (const TaskInfo& info : tasks()) {
    EXPECT_FALSE(info.summary.empty()) << info.name;
    EXPECT_EQ(info.summary.find('\n'), std::string::npos) << info.name;
    EXPECT_LT(info.summary.size(), 70u) << info.name;
    EXPECT_FALSE(info.citation.empty()) << info.name;
    EXPECT_LT(std::ranges::count(info.description, '\n'), 20) << info.name;
    std::istringstream lines(info.description);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 90u) << line;
    EXPECT_GE(info.recipe.steps, 1) << info.name;
    EXPECT_EQ(info.recipe.d_model % info.recipe.heads, 0) << info.name;
  }
}

TEST(Registry, UnknownTaskGetsASuggestion) {
  EXPECT_THAT(message_of<ValueError>([] { find_task("cpoy"); }),
              HasSubstr("did you mean \"copy\"?"));
  EXPECT_THAT(message_of<ValueError>([] { make_task("grammar"); }), HasSubstr("agreement, text"));
}

TEST(Registry, MakesCopyWithItsOptions) {
  EXPECT_EQ(make_task("copy")->context(), find_task("copy").recipe.context);
  EXPECT_EQ(make_task("copy", {.context = 8})->context(), 8);
  EXPECT_EQ(make_task("copy", {.chosen = {{"alphabet", "4"}}})->vocabulary(), 5);
}

TEST(Registry, MakesTextOfAFile) {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.txt", std::string(1000, 'a') + "b");
  const auto task = make_task("text", {.file = path});
  EXPECT_EQ(task->context(), 64);
  EXPECT_EQ(task->vocabulary(), 2);
  EXPECT_EQ(make_task("text", {.file = path, .context = 8})->context(), 8);
  EXPECT_THAT(message_of<FileError>([&] { make_task("text", {.file = path, .context = 500}); }),
              AllOf(HasSubstr(path), HasSubstr("validation")));
  const std::string missing = folder / "b.txt";
  EXPECT_THAT(message_of<FileError>([&] { make_task("text", {.file = missing}); }),
              HasSubstr(missing));
}

TEST(Registry, FileMustBeGivenWhereItIsTaken) {
  EXPECT_THAT(message_of<ValueError>([] { make_task("text"); }), HasSubstr("heed train text FILE"));
  EXPECT_THAT(message_of<ValueError>([] { make_task("copy", {.file = "a.txt"}); }),
              AllOf(HasSubstr("takes no file"), HasSubstr("a.txt")));
}

TEST(Registry, OptionsAreThoseOfTheTaskAndInTheirRange) {
  const auto refused = [](std::string_view task, std::string option, std::string value) {
    return message_of<ValueError>([&] { make_task(task, {.chosen = {{option, value}}}); });
  };
  EXPECT_EQ(refused("copy", "alphabat", "4"),
            "unknown option of copy \"alphabat\"; did you mean \"alphabet\"?");
  EXPECT_THAT(refused("copy", "alphabet", "63"),
              HasSubstr("alphabet = 63 is out of range: it must be a whole number from 2 to 62"));
  EXPECT_THAT(refused("copy", "alphabet", "many"), HasSubstr("alphabet = many"));
  EXPECT_THAT(refused("addition", "order", "plan"),
              HasSubstr("order = plan: it must be reversed or plain"));
}

TEST(Registry, RefusesOptionsWithoutANameOfTheirOwn) {
  const std::size_t before = tasks().size();
  const auto refused = [](std::vector<TaskOption> options) {
    return message_of<ValueError>([&] {
      register_task({.name = "lazy", .options = std::move(options), .make = [](const auto& given) {
                       return std::make_unique<CopyTask>(given);
                     }});
    });
  };
  EXPECT_EQ(refused({Option<Whole>{"steps", "of a walk", {}, 3}}),
            "register_task: lazy: an option is called steps, as a flag or setting of heed is");
  EXPECT_EQ(refused({Option<Whole>{"", "of a walk", {}, 3}}),
            "register_task: lazy: an option has no name");
  EXPECT_EQ(refused({kAlphabet, kAlphabet}),
            "register_task: lazy: an option comes twice: alphabet");
  EXPECT_EQ(tasks().size(), before);
}

TEST(Registry, RefusesATaskThatCannotServe) {
  const std::size_t before = tasks().size();
  const auto make = [](const TaskOptions& options) { return std::make_unique<CopyTask>(options); };
  EXPECT_THAT(message_of<ValueError>([&] { register_task({.name = "copy", .make = make}); }),
              HasSubstr("\"copy\" already"));
  EXPECT_THROW(register_task({.name = "", .make = make}), ValueError);
  EXPECT_THROW(register_task({.name = "lazy"}), ValueError);
  EXPECT_EQ(tasks().size(), before);
}

}  // namespace
}  // namespace heed
