#include <gmock/gmock.h>
#include <heed/autograd/autograd.h>
#include <heed/train/train.h>

#include <clocale>
#include <cstdlib>
#include <locale>

#include "process.h"
#include "support.h"

namespace heed {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

/// A locale with decimal commas, made from nothing that is not in libc-bin, and active while it
/// lives.
class CommaLocale {
 public:
  CommaLocale() {
    write_file(folder_ / "source",
               "LC_NUMERIC\ndecimal_point \",\"\nthousands_sep \".\"\ngrouping 3;3\n"
               "END LC_NUMERIC\n");
    write_file(folder_ / "charmap",
               "<code_set_name> ANSI_X3.4-1968\n<escape_char> /\nCHARMAP\n"
               "<U0000>..<U007F> /x00 <ASCII>\nEND CHARMAP\n");
    const std::string in = folder_.path().string() + "/";
    // Its exit code only tells of the categories that are left out.
    std::system(
        ("localedef -c -f " + in + "charmap -i " + in + "source " + in + "xx_COMMA 2>&-").c_str());
    ::setenv("LOCPATH", folder_.path().c_str(), 1);
    active_ = std::setlocale(LC_ALL, "xx_COMMA") != nullptr &&
              std::string(std::localeconv()->decimal_point) == ",";
    if (active_) std::locale::global(std::locale("xx_COMMA"));
  }
  ~CommaLocale() {
    std::locale::global(std::locale::classic());
    ::unsetenv("LOCPATH");
  }
  CommaLocale(const CommaLocale&) = delete;
  CommaLocale& operator=(const CommaLocale&) = delete;

  bool active() const { return active_; }
  std::string path() const { return folder_.path().string(); }

 private:
  TemporaryFolder folder_;
  bool active_ = false;
};

bool has_decimal_comma(const std::string& text) {
  const auto digit = [&](std::size_t i) {
    return i < text.size() && text[i] >= '0' && text[i] <= '9';
  };
  for (std::size_t i = 1; i < text.size(); ++i)
    if (text[i] == ',' && digit(i - 1) && digit(i + 1)) return true;
  return false;
}

TEST(Cases, U04DecimalCommasAreForNobody) {
  const TemporaryFolder folder;
  const CommaLocale locale;
  ASSERT_TRUE(locale.active());

  EXPECT_EQ(json_line({{"loss", .5}, {"step", std::int64_t{12345}}}),
            R"({"loss":0.5,"step":12345})");
  const std::vector<HeadMap> maps{{"x", full({200, 200}, .5)}};
  EXPECT_THAT(heat_maps_svg(maps, 1), AllOf(HasSubstr("width=\"1616\""), Not(HasSubstr("1.616"))));
  write_safetensors(folder / "x", {{"w", ones({1234})}});
  EXPECT_EQ(read_safetensors(folder / "x").tensors[0].value.numel(), 1234);

  const Outcome found =
      run_heed({"train", "copy", "--lr", "0.001", "--steps", "12", "--eval-every", "6", "--json"},
               {.folder = folder.path(),
                .environment = {{"LC_ALL", "xx_COMMA"}, {"LOCPATH", locale.path()}}});
  ASSERT_EQ(found.code, 0) << found.err;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "runs")) {
    EXPECT_THAT(lines_of(read_file(entry.path() / "config.toml")), Contains("lr = 0.001"));
    EXPECT_THAT(read_file(entry.path() / "metrics.jsonl"), HasSubstr("\"lr\":0.001"));
  }
  EXPECT_FALSE(has_decimal_comma(found.err)) << found.err;
  EXPECT_FALSE(has_decimal_comma(found.out)) << found.out;
  EXPECT_TRUE(has_decimal_comma("loss 2,5"));
}

}  // namespace
}  // namespace heed
