#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heed/autograd/error.h>
#include <heed/data/data.h>
#include <rapidcheck/gtest.h>

#include <numeric>

#include "support.h"

namespace heed {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;

std::vector<std::int64_t> count_up(std::int64_t n) {
  std::vector<std::int64_t> ids(static_cast<std::size_t>(n));
  std::iota(ids.begin(), ids.end(), std::int64_t{0});
  return ids;
}

TEST(ReadFile, GivesEveryByte) {
  const TemporaryFolder folder;
  const std::string bytes("a\r\n\0\xff", 5);
  EXPECT_EQ(read_file(folder.write("bytes", bytes)), bytes);
}

TEST(ReadFile, WhatCannotBeReadIsNamedWithItsReason) {
  const TemporaryFolder folder;
  const std::string missing = folder / "missing.txt";
  EXPECT_THAT(message_of<FileError>([&] { read_file(missing); }),
              AllOf(HasSubstr(missing), HasSubstr("No such file")));
  EXPECT_THAT(message_of<FileError>([&] { read_file(folder / ""); }),
              AllOf(HasSubstr(folder / ""), HasSubstr("is a directory")));
  EXPECT_THAT(message_of<FileError>([&] { read_file(folder.write("empty", "")); }),
              HasSubstr("is empty"));
  EXPECT_THROW(read_file(""), FileError);
  EXPECT_THAT(message_of<FileError>([] { read_file("/dev/zero"); }), HasSubstr("no regular file"));
  // It opens, and its first page is not mapped.
  EXPECT_THAT(message_of<FileError>([] { read_file("/proc/self/mem"); }),
              HasSubstr("cannot be read"));
}

TEST(CleanText, D07ByteOrderMarkAndCarriageReturnsAreDropped) {
  const std::string clean = clean_text(
      "\xef\xbb\xbf"
      "a\r\nb\r\n",
      "file");
  EXPECT_EQ(clean, "a\nb\n");
  EXPECT_EQ(CharacterTokenizer::of(clean).characters(), "\nab");
}

TEST(CleanText, OnlyAPairIsALineEnd) {
  EXPECT_EQ(clean_text("a\rb\r\r\nc\n\r", "file"), "a\rb\r\nc\n\r");
  EXPECT_EQ(clean_text("a\xef\xbb\xbf", "file"), "a\xef\xbb\xbf") << "a mark only at the start";
}

TEST(CleanText, InvalidUtf8IsRefusedWithTheOffsetInTheFile) {
  EXPECT_THAT(message_of<FileError>([] {
                clean_text(
                    "\xef\xbb\xbf"
                    "a\r\n\xe9t\xe9",
                    "old.txt");
              }),
              AllOf(HasSubstr("old.txt, line 2"), HasSubstr("offset 6")));
}

TEST(CleanText, NothingButAMarkIsNoText) {
  EXPECT_THAT(message_of<FileError>([] { clean_text("\xef\xbb\xbf", "bom.txt"); }),
              HasSubstr("bom.txt: has no text"));
}

TEST(SplitForTraining, LastTenthOfTheCharactersIsHeldOut) {
  const Parts parts = split_for_training("abcdefghijklmnopqrstuvwxy");
  EXPECT_EQ(parts.training, "abcdefghijklmnopqrstuv");
  EXPECT_EQ(parts.validation, "wxy");
  EXPECT_EQ(split_for_training("ééééééééé😀").validation, "😀") << "no character is cut";
}

TEST(SplitForTraining, RefusesWhatIsNotUtf8) {
  EXPECT_THROW(split_for_training("\xf0\xf0\xf0\xf0\xf0\xf0\xf0\xf0"), ValueError);
}

RC_GTEST_PROP(SplitForTraining, PartsAreTheWholeInOrderAndValidationIsNotEmpty, ()) {
  const auto text = *rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::inRange('a', 'z')));
  const Parts parts = split_for_training(text);
  RC_ASSERT(!parts.validation.empty());
  RC_ASSERT(parts.training.size() == text.size() * 9 / 10);
  RC_ASSERT(std::string(parts.training) + std::string(parts.validation) == text);
}

TEST(Windows, D04PartsShorterThanAWindowAreNamed) {
  for (const std::int64_t length : {0, 1, 8}) {
    EXPECT_THAT(message_of<FileError>([&] { Windows(count_up(length), 8, "the third part"); }),
                AllOf(HasSubstr("the third part has " + std::to_string(length) + " tokens"),
                      HasSubstr("context 8"), HasSubstr("more than 8")));
  }
  const Windows nine(count_up(9), 8, "the third part");
  EXPECT_EQ(nine.starts(), 1);
  EXPECT_EQ(nine.tiles(), 1);
  EXPECT_THAT(nine.at(0), ElementsAreArray(count_up(9)));
}

TEST(Windows, ContextOutOfRange) {
  EXPECT_THROW(Windows(count_up(9), 0, "part"), ValueError);
  EXPECT_THROW(Windows(count_up(9), -1, "part"), ValueError);
  EXPECT_THROW(Windows(count_up(9), INT64_MAX, "part"), FileError);
}

TEST(Windows, D05StartsOfTheExample) {
  const Windows windows(count_up(6), 3, "part");  // abcdef
  EXPECT_EQ(windows.starts(), 3);
  EXPECT_THAT(windows.at(0), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(windows.at(2), ElementsAre(2, 3, 4, 5));
  EXPECT_THROW(windows.at(3), IndexError);
  EXPECT_THROW(windows.at(-1), IndexError);
}

TEST(Windows, LastTileIsMovedBack) {
  const Windows windows(count_up(9), 3, "part");  // targets 1 to 8
  ASSERT_EQ(windows.tiles(), 3);
  EXPECT_EQ(windows.tile(1).start, 3);
  EXPECT_EQ(windows.tile(1).first, 0);
  EXPECT_EQ(windows.tile(2).start, 5);
  EXPECT_EQ(windows.tile(2).first, 1);
  EXPECT_THROW(windows.tile(3), IndexError);
  EXPECT_THROW(windows.tile(-1), IndexError);
}

RC_GTEST_PROP(Windows, TilesCoverEveryTargetOnce, ()) {
  const auto context = *rc::gen::inRange<std::int64_t>(1, 12);
  const auto n = *rc::gen::inRange<std::int64_t>(context + 1, 100);
  const Windows windows(count_up(n), context, "part");
  std::vector<std::int64_t> targets;
  for (std::int64_t i = 0; i < windows.tiles(); ++i) {
    const auto [start, first] = windows.tile(i);
    const auto window = windows.at(start).subspan(static_cast<std::size_t>(first + 1));
    targets.insert(targets.end(), window.begin(), window.end());
  }
  const auto all = count_up(n);
  RC_ASSERT(targets == std::vector(all.begin() + 1, all.end()));
}

}  // namespace
}  // namespace heed
