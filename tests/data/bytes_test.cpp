#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heed/autograd/error.h>
#include <heed/data/data.h>
#include <rapidcheck/gtest.h>

#include "support.h"

namespace heed {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Pairs = std::vector<BytePairTokenizer::Pair>;

std::string decoded(const Tokenizer& tokenizer, std::vector<std::int64_t> ids) {
  return tokenizer.decode(ids);
}

TEST(ByteTokenizer, IdsAreTheBytesOfUtf8) {
  const ByteTokenizer bytes;
  EXPECT_EQ(bytes.size(), 256);
  EXPECT_THAT(bytes.encode("aé"), ElementsAre('a', 0xc3, 0xa9));
  EXPECT_EQ(decoded(bytes, {'a', 0xc3, 0xa9}), "aé");
  EXPECT_EQ(decoded(bytes, {'a', 0xc3, 'b', 0xa9}),
            "a\xef\xbf\xbd"
            "b\xef\xbf\xbd")
      << "half a character";
  EXPECT_THAT(message_of<ValueError>([&] { bytes.encode("a\xff"); }), HasSubstr("offset 1"));
  EXPECT_THROW(decoded(bytes, {256}), IndexError);
  EXPECT_THROW(decoded(bytes, {-1}), IndexError);
}

// a b comes 8 times; then it comes twice in a row 3 times, and after a space twice.
TEST(BytePairTokenizer, JoinsTheMostFrequentPairFirst) {
  const auto bpe = BytePairTokenizer::of("abab\tabab\tabab ab ab", 259);
  EXPECT_EQ(bpe.size(), 259);
  EXPECT_EQ(bpe.save(), "bpe:97 98\n256 256\n32 256\n");
  EXPECT_THAT(bpe.encode("abab"), ElementsAre(257));
  EXPECT_THAT(bpe.encode("aba"), ElementsAre(256, 'a'));
  EXPECT_THAT(bpe.encode(" ab"), ElementsAre(258));
  EXPECT_EQ(decoded(bpe, {257, 258, 'c'}), "abab abc");
}

TEST(BytePairTokenizer, JoinsInTheOrderOfLearning) {
  const BytePairTokenizer bpe(Pairs{{'b', 'c'}, {'a', 'b'}});
  EXPECT_THAT(bpe.encode("abc"), ElementsAre('a', 256));
  EXPECT_THAT(bpe.encode("ab"), ElementsAre(257));
}

TEST(BytePairTokenizer, StopsWhereNoPairComesTwice) {
  EXPECT_EQ(BytePairTokenizer::of("abcdef", 1000).size(), 256);
  EXPECT_EQ(BytePairTokenizer::of("", 1000).size(), 256);
  EXPECT_EQ(BytePairTokenizer::of("aa aa", 256).size(), 256);
  EXPECT_EQ(BytePairTokenizer::of("aaaaaa", 1000).save(), "bpe:97 97\n")
      << "six a are three pairs, and one of two such";
  EXPECT_EQ(BytePairTokenizer::of("aaa", 1000).size(), 256) << "the second a a overlaps the first";
}

TEST(BytePairTokenizer, KeepsToWordsAndWhiteSpaceApart) {
  const auto bpe = BytePairTokenizer::of("a\tb\na\tb\na\tb\n a  a  a", 1000);
  EXPECT_THAT(bpe.encode("a\tb\n"), ElementsAre('a', '\t', 'b', '\n'));
  EXPECT_EQ(bpe.save(), "bpe:32 97\n") << "a space belongs to the word after it";
}

TEST(BytePairTokenizer, NoIdStandsForMoreThan64Bytes) {
  const auto bpe = BytePairTokenizer::of(std::string(1000, 'a'), 300);
  EXPECT_EQ(bpe.encode(std::string(64, 'a')).size(), 1u);
  EXPECT_GT(bpe.encode(std::string(65, 'a')).size(), 1u);
  EXPECT_EQ(decoded(bpe, bpe.encode(std::string(999, 'a'))), std::string(999, 'a'));
}

TEST(BytePairTokenizer, RefusesPairsThatAreNone) {
  EXPECT_THAT(message_of<ValueError>([] {
                BytePairTokenizer(Pairs{{97, 256}});
              }),
              HasSubstr("id 256 stands for 97 and 256, which are not both earlier"));
  EXPECT_THROW(BytePairTokenizer(Pairs{{-1, 97}}), ValueError);
  EXPECT_THAT(message_of<ValueError>([] {
                BytePairTokenizer(Pairs{{1, 2}, {1, 2}});
              }),
              HasSubstr("1 and 2 come twice"));
  Pairs doubling;  // would stand for 2^40 bytes
  for (std::int64_t i = 0; i < 40; ++i) doubling.emplace_back(255 + i, 255 + i);
  EXPECT_THAT(message_of<ValueError>([&] { BytePairTokenizer{doubling}; }),
              HasSubstr("stands for 128 bytes; it may be 64"));
  EXPECT_THAT(message_of<ValueError>([] { BytePairTokenizer::of("a", 255); }),
              HasSubstr("vocabulary = 255"));
  EXPECT_THROW(BytePairTokenizer::of("\xff", 300), ValueError);
}

TEST(BytePairTokenizer, DamagedSaveIsRefused) {
  for (const char* saved :
       {"bytes", "bpe", "bpe:97", "bpe:97 98", "bpe:97 98 ", "bpe:97 98\n99", "bpe:097 98\n",
        "bpe:97  98\n", "bpe:97 98\r\n", "bpe:\n", "bpe:-1 98\n", "bpe:97 256\n", "bpe:a b\n",
        "words:", "words:a  b", "words:a a", "words:\xff", "word:a"}) {
    EXPECT_THAT(message_of<FileError>([&] { load_tokenizer(saved); }), HasSubstr("tokenizer"))
        << saved;
  }
  for (const std::string& saved : {std::string(100'000, '1'), std::string(20, '1') + " 98\n"})
    EXPECT_THAT(message_of<FileError>([&] { load_tokenizer("bpe:" + saved); }),
                HasSubstr("byte pairs: an id is cut off or too long"));
}

RC_GTEST_PROP(BytePairTokenizer, AnyTextSurvivesLearningSavingAndLoading, ()) {
  const auto text = *rc::gen::container<std::string>(rc::gen::element('a', 'b', ' ', '\n', '\t'));
  const auto other = *rc::gen::container<std::string>(rc::gen::element('a', 'b', 'c', ' ', '\n'));
  const auto bpe = BytePairTokenizer::of(text, 280);
  const auto loaded = load_tokenizer(bpe.save());
  RC_ASSERT(loaded->save() == bpe.save());
  RC_ASSERT(loaded->size() == bpe.size());
  for (const std::string& each : {text, other}) {
    const auto ids = loaded->encode(each);
    RC_ASSERT(ids == bpe.encode(each));
    RC_ASSERT(ids.size() <= each.size());
    RC_ASSERT(loaded->decode(ids) == each);
  }
}

TEST(WordTokenizer, IdsAreWordsWithSpacesBetweenThem) {
  const WordTokenizer words({"the", "dög", "="});
  EXPECT_THAT(words.encode("the = dög the"), ElementsAre(0, 2, 1, 0));
  EXPECT_THAT(words.encode(" the  = "), ElementsAre(0, 2)) << "spaces around them do not matter";
  EXPECT_EQ(decoded(words, {1, 2, 0}), "dög = the");
  EXPECT_EQ(words.save(), "words:the dög =");
  EXPECT_THAT(message_of<ValueError>([&] { words.encode("the dgö ="); }),
              HasSubstr("\"dgö\" at position 1 (the first is 0)"));
  EXPECT_THAT(message_of<ValueError>([&] { words.encode("teh"); }),
              HasSubstr("did you mean \"the\"?"));
  EXPECT_THROW(decoded(words, {3}), IndexError);
  EXPECT_THROW(WordTokenizer({}), ValueError);
  EXPECT_THROW(WordTokenizer({"a", "b", "a"}), ValueError);
  EXPECT_THROW(WordTokenizer({"a b"}), ValueError);
  EXPECT_THROW(WordTokenizer({""}), ValueError);
}

TEST(Decode, IgnoredTargetsStandBetweenPieces) {
  const auto task = make_task("modular");
  EXPECT_EQ(task->decode(std::vector<std::int64_t>{-100, -100, 7, 8}), "· · 7 8");
  EXPECT_EQ(make_task("copy")->decode(std::vector<std::int64_t>{-100, 0, 1, -100}), "·ab·");
}

}  // namespace
}  // namespace heed
