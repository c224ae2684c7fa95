#include <gtest/gtest.h>
#include <heed/data/data.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace heed {
namespace {

const std::vector<std::string> kNames = {"copy", "text", "selective-copy", "sort"};

TEST(EditDistance, CountsWhatIsMistyped) {
  EXPECT_EQ(edit_distance("copy", "copy"), 0u);
  EXPECT_EQ(edit_distance("copyy", "copy"), 1u) << "inserted";
  EXPECT_EQ(edit_distance("coy", "copy"), 1u) << "deleted";
  EXPECT_EQ(edit_distance("cipy", "copy"), 1u) << "replaced";
  EXPECT_EQ(edit_distance("cpoy", "copy"), 1u) << "swapped";
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
}

RC_GTEST_PROP(EditDistance, IsSymmetricAndBoundedByTheLengths, ()) {
  const auto word = rc::gen::container<std::string>(rc::gen::inRange('a', 'd'));
  const std::string a = *word, b = *word;
  const std::size_t distance = edit_distance(a, b);
  RC_ASSERT(distance == edit_distance(b, a));
  RC_ASSERT((distance == 0) == (a == b));
  RC_ASSERT(distance <= std::max(a.size(), b.size()));
  RC_ASSERT(distance + std::min(a.size(), b.size()) >= std::max(a.size(), b.size()));
}

TEST(NearestName, IsSuggestedIfItCanBeMeant) {
  EXPECT_EQ(nearest_name("cpoy", kNames), "copy");
  EXPECT_EQ(nearest_name("selectiv-coppy", kNames), "selective-copy");
  EXPECT_EQ(nearest_name("txt", kNames), "text");
  EXPECT_EQ(nearest_name("sot", kNames), "sort");
  EXPECT_EQ(nearest_name("COPY", kNames), "copy") << "capitals count for nothing";
  EXPECT_EQ(nearest_name("grammar", kNames), std::nullopt);
  EXPECT_EQ(nearest_name("", kNames), std::nullopt);
  EXPECT_EQ(nearest_name("copy", {}), std::nullopt);
}

TEST(NearestName, IsTheFirstOfTheNearest) {
  const std::vector<std::string> names = {"copied", "copier", "copies", "copying"};
  EXPECT_EQ(nearest_name("copes", names), "copies");
  EXPECT_EQ(nearest_name("copie", names), "copied");
}

TEST(UnknownName, IsOneSentence) {
  EXPECT_EQ(unknown_name("task", "cpoy", kNames), "unknown task \"cpoy\"; did you mean \"copy\"?");
  EXPECT_EQ(unknown_name("task", "grammar", kNames),
            "unknown task \"grammar\"; known are: copy, text, selective-copy, sort");
}

TEST(UnknownChoice, SaysWhatItMayBeAndWhatMayBeMeant) {
  EXPECT_EQ(unknown_choice("task", "cpoy", "any of them", kNames),
            "task = cpoy: it must be any of them; did you mean \"copy\"?");
  EXPECT_EQ(unknown_choice("task", "grammar", "any of them", kNames),
            "task = grammar: it must be any of them");
}

}  // namespace
}  // namespace heed
