// Files, data: what becomes of a text, for each kind of token.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heed/autograd/error.h>
#include <heed/data/data.h>

#include <algorithm>

namespace heed {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::vector<std::string> kKinds = {"characters", "bytes", "bpe"};

TextTask task_of(const std::string& text, std::int64_t context, const std::string& kind) {
  return TextTask(text, {.file = "a.txt",
                         .context = context,
                         .chosen = {{"tokenizer", kind}, {"vocabulary", "260"}}});
}

template <class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

/// 100 characters, of which the last 10 are digits.
std::string letters_then_digits() {
  std::string text;
  for (int i = 0; i < 90; ++i) text += static_cast<char>('a' + i % 26);
  return text + "0123456789";
}

TEST(Cases, D01AForeignCharacterIsNamedWithItsPosition) {
  const std::string text = letters_then_digits();
  EXPECT_THAT(message_of([&] { task_of(text, 4, "characters").encode("abZ"); }),
              AllOf(HasSubstr("'Z' (U+005A) at position 2"), HasSubstr("not in the vocabulary")));
  for (const char* kind : {"bytes", "bpe"}) {  // to them no character is foreign
    const TextTask task = task_of(text, 4, kind);
    EXPECT_EQ(task.decode(task.encode("abZ é😀")), "abZ é😀");
    EXPECT_THAT(message_of([&] { task.encode("ab\xff"); }), HasSubstr("offset 2"));
  }
  EXPECT_THAT(message_of([] { make_task("agreement")->encode("the old kye"); }),
              AllOf(HasSubstr("\"kye\" at position 2"), HasSubstr("did you mean \"key\"?")));
}

TEST(Cases, D04APartTooShortForAWindowIsNamed) {
  for (const std::string& kind : kKinds) {
    const auto message = [&](std::size_t length) {
      std::string text;  // no pair comes twice in a word, so that bpe joins nothing
      for (std::size_t i = 0; i < length; ++i) text += '\n';
      return message_of([&] { task_of(text, 8, kind); });
    };
    EXPECT_THAT(message(1), AllOf(HasSubstr("training part"), HasSubstr("has 0 tokens")));
    EXPECT_THAT(message(2), AllOf(HasSubstr("training part"), HasSubstr("has 1 tokens")));
    EXPECT_THAT(message(9), AllOf(HasSubstr("training part"), HasSubstr("has 8 tokens")));
    EXPECT_THAT(message(10), AllOf(HasSubstr("validation part"), HasSubstr("has 1 tokens")));
    EXPECT_THAT(message(80), AllOf(HasSubstr("validation part"), HasSubstr("has 8 tokens")));
    EXPECT_EQ(task_of(std::string(81, '\n'), 8, kind).held_out_rows(), 1);
  }
}

TEST(Cases, D05TargetsAreTheNextTokens) {
  const Windows windows({0, 1, 2, 3, 4, 5}, 3, "abcdef");
  EXPECT_EQ(windows.starts(), 3);
  EXPECT_THAT(windows.at(0), testing::ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(windows.at(2), testing::ElementsAre(2, 3, 4, 5));
  for (const std::string& kind : kKinds) {
    const TextTask task = task_of(letters_then_digits(), 3, kind);
    Rng rng(1);
    const Batch batch = task.sample(200, rng);
    for (std::size_t i = 0; i + 1 < batch.inputs.data().size(); ++i)
      EXPECT_TRUE(i % 3 == 2 || batch.targets.data()[i] == batch.inputs.data()[i + 1]);
  }
}

TEST(Cases, D06NoTokenOfTheValidationIsTrainedOn) {
  for (const std::string& kind : kKinds) {
    const TextTask task = task_of(letters_then_digits(), 3, kind);
    Rng rng(2);
    const Batch training = task.sample(500, rng);
    for (const Tokens& part : {training.inputs, training.targets})
      EXPECT_EQ(task.decode(part.data()).find_first_of("0123456789"), std::string::npos) << kind;
    EXPECT_GT(task.held_out_rows(), 0);
    const Batch held_out = task.held_out(0, task.held_out_rows());
    EXPECT_EQ(task.decode(held_out.inputs.data()).find_first_of("abcdefghijklmnopqrstuvwxyz"),
              std::string::npos);
  }
}

TEST(Cases, D07EndsOfLinesAndAMark) {
  EXPECT_EQ(CharacterTokenizer::of(clean_text("\xef\xbb\xbf"
                                              "a\r\nb\r\n",
                                              "a.txt"))
                .characters(),
            "\nab");
  std::string plain, windows = "\xef\xbb\xbf";
  for (int i = 0; i < 40; ++i) {
    plain += "a\nb\n";
    windows += "a\r\nb\r\n";
  }
  for (const std::string& kind : kKinds) {
    const TextTask one = task_of(plain, 3, kind), other = task_of(windows, 3, kind);
    EXPECT_EQ(one.tokenizer().save(), other.tokenizer().save());
    EXPECT_EQ(one.held_out(0, 1).inputs.to_vector(), other.held_out(0, 1).inputs.to_vector());
  }
}

}  // namespace
}  // namespace heed
