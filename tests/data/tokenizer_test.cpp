#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heed/autograd/error.h>
#include <heed/data/data.h>
#include <rapidcheck/gtest.h>

#include "support.h"

namespace heed {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(CharacterTokenizer, IdsAreThePlacesInItsString) {
  const CharacterTokenizer tokenizer("bé|😀a");
  EXPECT_EQ(tokenizer.size(), 5);
  EXPECT_THAT(tokenizer.encode("a😀éb|"), ElementsAre(4, 3, 1, 0, 2));
  EXPECT_EQ(tokenizer.decode(std::vector<std::int64_t>{4, 3, 1, 0, 2}), "a😀éb|");
  EXPECT_THAT(tokenizer.encode(""), ElementsAre());
}

TEST(CharacterTokenizer, OfATextIsInCodePointOrder) {
  EXPECT_EQ(CharacterTokenizer::of("zé a😀a\nz").characters(), "\n azé😀");
}

TEST(CharacterTokenizer, RefusesWhatIsNoVocabulary) {
  EXPECT_THAT(message_of<ValueError>([] { CharacterTokenizer("abca"); }),
              HasSubstr("'a' (U+0061) comes twice"));
  EXPECT_THAT(message_of<ValueError>([] { CharacterTokenizer("a\nb\n"); }),
              AllOf(HasSubstr("U+000A comes twice"), Not(HasSubstr("\n"))));
  EXPECT_THROW(CharacterTokenizer(""), ValueError);
  EXPECT_THROW(CharacterTokenizer("a\xff"), ValueError);
}

TEST(CharacterTokenizer, D01ForeignCharacterIsNamedWithItsPosition) {
  const CharacterTokenizer tokenizer("abcé");
  EXPECT_THAT(message_of<ValueError>([&] { tokenizer.encode("éaZb"); }),
              AllOf(HasSubstr("'Z' (U+005A) at position 2"), HasSubstr("4 characters: abcé")));
  EXPECT_THAT(message_of<ValueError>([&] { tokenizer.encode("ab\n"); }),
              AllOf(HasSubstr("U+000A at position 2"), Not(HasSubstr("\n"))));
  EXPECT_THAT(message_of<ValueError>([] { CharacterTokenizer("\nab").encode("c"); }),
              AllOf(HasSubstr("3 characters: ab"), Not(HasSubstr("\n"))));
  EXPECT_THAT(message_of<ValueError>([&] { tokenizer.encode("😀"); }),
              HasSubstr("'😀' (U+1F600) at position 0"));
  EXPECT_THAT(message_of<ValueError>([&] { tokenizer.encode("ab\x80"); }), HasSubstr("offset 2"));
}

TEST(CharacterTokenizer, MessageStaysShortForALargeVocabulary) {
  std::u32string characters;
  for (char32_t c = 0x4e00; c < 0x5e00; ++c) characters += c;
  const CharacterTokenizer tokenizer(to_utf8(characters));
  EXPECT_LT(message_of<ValueError>([&] { tokenizer.encode("a"); }).size(), 400u);
}

TEST(CharacterTokenizer, IdOutsideIsNamedWithItsPosition) {
  const CharacterTokenizer tokenizer("abc");
  for (const std::int64_t id : {std::int64_t{-1}, std::int64_t{3}, INT64_MIN}) {
    EXPECT_THAT(message_of<IndexError>([&] {
                  tokenizer.decode(std::vector{std::int64_t{0}, id});
                }),
                HasSubstr("id " + std::to_string(id) + " at position 1 is outside [0, 3)"));
  }
}

TEST(CharacterTokenizer, ComesBackFromItsSavedString) {
  const CharacterTokenizer tokenizer("z\n\"\\:é😀");
  const auto loaded = load_tokenizer(tokenizer.save());
  EXPECT_EQ(loaded->size(), 7);
  EXPECT_EQ(loaded->encode("é\nz"), tokenizer.encode("é\nz"));
  EXPECT_EQ(loaded->save(), tokenizer.save());
}

TEST(CharacterTokenizer, DamagedSaveIsRefused) {
  for (const char* saved :
       {"", "abc", "characters", "characters:", "characters:aa", "characters:\xc3", "bytes:a"}) {
    EXPECT_THAT(message_of<FileError>([&] { load_tokenizer(saved); }), HasSubstr("tokenizer"))
        << saved;
  }
}

// Any character but a surrogate.
rc::Gen<std::u32string> any_text() {
  const auto character = rc::gen::oneOf(rc::gen::inRange<std::uint32_t>(1, 0x80),
                                        rc::gen::inRange<std::uint32_t>(0x80, 0xd800),
                                        rc::gen::inRange<std::uint32_t>(0xe000, 0x110000));
  return rc::gen::map(rc::gen::nonEmpty(rc::gen::container<std::vector<std::uint32_t>>(character)),
                      [](const std::vector<std::uint32_t>& points) {
                        return std::u32string(points.begin(), points.end());
                      });
}

RC_GTEST_PROP(CharacterTokenizer, AnyTextSurvivesEncodingSavingAndLoading, ()) {
  const std::u32string characters = *any_text();
  const std::string text = to_utf8(characters);
  RC_ASSERT(to_code_points(text) == characters);
  const CharacterTokenizer tokenizer = CharacterTokenizer::of(text);
  const auto ids = load_tokenizer(tokenizer.save())->encode(text);
  RC_ASSERT(ids.size() == characters.size());
  RC_ASSERT(tokenizer.decode(ids) == text);
}

TEST(Utf8, FindsTheFirstInvalidByte) {
  EXPECT_EQ(first_invalid_byte(""), std::nullopt);
  EXPECT_EQ(first_invalid_byte("aé😀"), std::nullopt);
  EXPECT_EQ(first_invalid_byte("ab\xff"), 2u);
  EXPECT_EQ(first_invalid_byte("é\x80"), 2u) << "a continuation without a beginning";
  EXPECT_EQ(first_invalid_byte("a\xe2\x82"), 1u) << "cut short";
  EXPECT_EQ(first_invalid_byte("\xc0\x80"), 0u) << "longer than it need be";
  EXPECT_EQ(first_invalid_byte("a\xed\xa0\x80"), 1u) << "a surrogate";
  EXPECT_EQ(first_invalid_byte("\xf4\x90\x80\x80"), 0u) << "above U+10FFFF";
}

TEST(Utf8, CodePointsThatAreNoCharactersAreRefused) {
  EXPECT_THAT(message_of<ValueError>([] { to_utf8(U"a\x110000"); }), HasSubstr("U+110000"));
  EXPECT_THAT(message_of<ValueError>([] { to_utf8(std::u32string(1, char32_t{0xd800})); }),
              HasSubstr("U+D800"));
}

}  // namespace
}  // namespace heed
