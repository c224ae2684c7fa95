#include <heed/autograd/error.h>
#include <heed/data/numbers.h>
#include <heed/data/suggest.h>
#include <heed/tests/gradients/checks.h>
#include <heed/train/cli/commands.h>
#include <heed/train/cli/output.h>
#include <heed/train/cli/threads.h>
#include <heed/train/metrics.h>
#include <heed/train/view/color.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace heed::cli {
namespace {

using checks::Report;
using checks::Subject;

struct GradcheckArguments {
  std::vector<std::string> names;
  bool all = false;
  std::int64_t order = 2;
  std::int64_t seed = 0;
  bool json = false;
};

constexpr const char* kNoGradient = "not differentiable";

std::string verdict(const Subject& subject, const Report& report) {
  if (subject.cases.empty()) return kNoGradient;
  return report.failure.empty() ? "ok" : "failed";
}

/// Prints what was found, one line for each subject: a table on a terminal that has the room.
class Printer {
 public:
  Printer(const GradcheckArguments& arguments, const std::vector<Subject>& subjects)
      : arguments_(arguments), terminal_(out.terminal()) {
    std::size_t longest = 0;
    for (const Subject& subject : subjects) longest = std::max(longest, subject.name.size());
    width_ = std::min(std::max(static_cast<int>(longest), kNarrowest), terminal_.width - kColumns);
    if (as_table()) row("op or layer", "variants", "order", "error", "elements", "time", "verdict");
  }

  void print(const Subject& subject, const Report& report) const {
    if (arguments_.json)
      print_json(subject, report);
    else if (as_table())
      print_row(subject, report);
    else
      print_line(subject, report);
    if (!arguments_.json && !report.failure.empty()) out.line(report.failure);
  }

 private:
  static constexpr int kColumns = 51;    // all but the name
  static constexpr int kNarrowest = 12;  // of the name

  bool as_table() const {
    return !arguments_.json && terminal_.interactive && width_ >= kNarrowest;
  }

  void row(const std::string& name, const std::string& variants, const std::string& order,
           const std::string& error, const std::string& elements, const std::string& time,
           const std::string& verdict) const {
    const auto length = static_cast<std::size_t>(width_);
    out.raw(fmt::format("{:<{}} {:>8} {:>5} {:>8} {:>8} {:>8}  {}",
                        name.size() > length ? name.substr(0, length - 1) + "~" : name, width_,
                        variants, order, error, elements, time, verdict));
  }

  void print_row(const Subject& subject, const Report& report) const {
    if (subject.cases.empty()) return out.raw(subject.name + "  " + kNoGradient);
    std::string word = verdict(subject, report);
    if (terminal_.color != ColorDepth::none)
      word =
          foreground(report.failure.empty() ? Rgb{78, 154, 6} : Rgb{204, 0, 0}, terminal_.color) +
          word + "\x1b[0m";
    row(subject.name, fmt::to_string(subject.cases.size()), fmt::to_string(arguments_.order),
        fmt::format("{:.1e}", report.relative), fmt::to_string(report.elements),
        fmt::format("{:.3f} s", report.seconds), word);
  }

  void print_line(const Subject& subject, const Report& report) const {
    const std::string word = subject.name + ": " + verdict(subject, report);
    if (subject.cases.empty()) return out.line(word);
    out.line(fmt::format("{}, order {}, {}, {}, worst relative error {:.1e}, {:.3f} s", word,
                         arguments_.order,
                         counted(static_cast<std::int64_t>(subject.cases.size()), "variant"),
                         counted(report.elements, "element"), report.relative, report.seconds));
  }

  void print_json(const Subject& subject, const Report& report) const {
    Fields fields = {{"event", "check"}, {"name", subject.name}, {"family", subject.family}};
    if (!subject.cases.empty()) {
      const Fields found = {{"variants", static_cast<std::int64_t>(subject.cases.size())},
                            {"order", arguments_.order},
                            {"relative_error", report.relative},
                            {"elements", report.elements},
                            {"kinks", report.kinks},
                            {"seconds", report.seconds}};
      fields.insert(fields.end(), found.begin(), found.end());
    }
    fields.push_back({"verdict", verdict(subject, report)});
    if (!report.failure.empty()) fields.push_back({"message", report.failure});
    out.raw(json_line(fields));
  }

  const GradcheckArguments& arguments_;
  Terminal terminal_;
  int width_ = 0;  // of the name's column
};

void list(const std::vector<Subject>& subjects, bool json) {
  if (json) {
    for (const Subject& subject : subjects)
      out.raw(json_line({{"event", "subject"},
                         {"name", subject.name},
                         {"family", subject.family},
                         {"variants", static_cast<std::int64_t>(subject.cases.size())}}));
    out.raw(json_line({{"event", "result"}, {"subjects", std::ssize(subjects)}}));
    return;
  }
  std::vector<std::pair<std::string, std::string>> families;
  std::string without;
  for (const Subject& subject : subjects) {
    if (families.empty() || families.back().first != subject.family)
      families.push_back({subject.family, ""});
    (subject.cases.empty() ? without : families.back().second) += " " + subject.name;
  }
  for (const auto& [family, names] : families) out.line(family + ":" + names);
  out.line(std::string(kNoGradient) + ":" + without);
  out.line("\n" + command_name() + " gradcheck softmax checks one, --all everything.");
}

/// Those of the given names, in their order. Throws ValueError for one that is not known.
std::vector<Subject> chosen(const std::vector<Subject>& subjects,
                            const std::vector<std::string>& names) {
  std::vector<std::string> known;
  for (const Subject& subject : subjects) known.push_back(subject.name);
  std::vector<Subject> result;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(subjects, name, &Subject::name);
    if (found == subjects.end()) throw ValueError(unknown_name("op or layer", name, known));
    if (std::ranges::find(result, name, &Subject::name) == result.end()) result.push_back(*found);
  }
  return result;
}

int gradcheck(const GradcheckArguments& arguments, const std::vector<Subject>& known) {
  if (!arguments.names.empty() && arguments.all)
    throw ValueError("gradcheck: give names or --all, not both");
  if (arguments.names.empty() && !arguments.all) {
    list(known, arguments.json);
    return kOk;
  }
  const std::vector<Subject> subjects = arguments.all ? known : chosen(known, arguments.names);
  const Printer printer(arguments, subjects);
  std::int64_t checked = 0, failed = 0;
  double seconds = 0;
  for (const Subject& subject : subjects) {
    const Report report = check(subject, static_cast<int>(arguments.order),
                                static_cast<std::uint64_t>(arguments.seed));
    printer.print(subject, report);
    if (!subject.cases.empty()) ++checked;
    if (!report.failure.empty()) ++failed;
    seconds += report.seconds;
  }
  if (arguments.json)
    out.raw(json_line({{"event", "result"},
                       {"checked", checked},
                       {"failed", failed},
                       {"order", arguments.order},
                       {"seconds", seconds}}));
  else
    out.line(fmt::format("{} checked to order {}, {} failed, {:.1f} s", checked, arguments.order,
                         failed, seconds));
  return failed == 0 ? kOk : kWrong;
}

}  // namespace

void add_gradcheck(CLI::App& program, Action& action, std::vector<Subject> (*subjects)()) {
  CLI::App* command = program.add_subcommand(
      "gradcheck",
      "compares gradients with differences; without a name, lists what can be checked");
  const auto arguments = std::make_shared<GradcheckArguments>();
  command->add_option("names", arguments->names, "ops and layers to check")->type_name("OP|LAYER");
  command->add_flag("--all", arguments->all, "check everything");
  add_number(*command, "--order", Whole{1, 2}, arguments->order,
             "1: the gradient; 2: also the gradient of the gradient [2]");
  add_number(*command, "--seed", Whole{}, arguments->seed, "of the numbers that are drawn [0]");
  command->add_flag("--json", arguments->json, "one JSON object a line, the result last");
  command->callback([&action, arguments, subjects] {
    action = [arguments, subjects] {
      use_threads({});
      return gradcheck(*arguments, subjects());
    };
  });
}

}  // namespace heed::cli
