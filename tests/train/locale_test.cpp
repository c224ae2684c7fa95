#include <gmock/gmock.h>
#include <heed/autograd/autograd.h>
#include <heed/train/train.h>
#include <unistd.h>

#include <clocale>
#include <cstdlib>
#include <iostream>
#include <locale>

#include "process.h"
#include "support.h"

namespace heed {
namespace {

using testing::Contains;
using testing::HasSubstr;

/// The folder of a locale with decimal commas, xx_COMMA, made from nothing that is not in libc-bin.
class CommaLocale {
 public:
  CommaLocale() {
    write_file(folder_ / "source",
               "LC_NUMERIC\ndecimal_point \",\"\nthousands_sep \".\"\ngrouping 3;3\n"
               "END LC_NUMERIC\n");
    write_file(folder_ / "charmap",
               "<code_set_name> ANSI_X3.4-1968\n<escape_char> /\nCHARMAP\n"
               "<U0000>..<U007F> /x00 <ASCII>\nEND CHARMAP\n");
    const std::string in = path() + "/";
    // Its exit code only tells of the categories that are left out.
    std::system(
        ("localedef -c -f " + in + "charmap -i " + in + "source " + in + "xx_COMMA 2>&-").c_str());
  }
  std::string path() const { return folder_.path().string(); }

 private:
  TemporaryFolder folder_;
};

/// Makes it the locale of this process; false if it is not active then.
bool enter(const CommaLocale& locale) {
  ::setenv("LOCPATH", locale.path().c_str(), 1);
  if (!std::setlocale(LC_ALL, "xx_COMMA")) return false;
  std::locale::global(std::locale("xx_COMMA"));
  return std::string(std::localeconv()->decimal_point) == ",";
}

/// What goes wrong when numbers are written; empty if nothing does.
std::string wrong_numbers(const std::filesystem::path& scratch) {
  const std::string json = json_line({{"loss", .5}, {"step", std::int64_t{12345}}});
  if (json != R"({"loss":0.5,"step":12345})") return json;
  const std::vector<HeadMap> maps{{"x", full({200, 200}, .5)}};
  const std::string svg = heat_maps_svg(maps, 1);
  if (svg.find("width=\"1616\"") == std::string::npos) return svg.substr(0, 200);
  write_safetensors(scratch, {{"w", ones({1234})}});
  if (read_safetensors(scratch).tensors.at(0).value.numel() != 1234) return "safetensors";
  return "";
}

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
  // In a process of its own: a locale cannot be left without a trace.
  EXPECT_EXIT(
      {
        const std::string wrong =
            enter(locale) ? wrong_numbers(folder / "x") : "the locale is not active";
        std::cerr << wrong;
        ::_exit(wrong.empty() ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");

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
