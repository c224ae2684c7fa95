#include <heed/autograd/error.h>
#include <heed/data/counted_task.h>
#include <heed/data/tasks/tasks.h>

#include <algorithm>

namespace heed {
namespace {

constexpr std::int64_t kAdditionContext = 6;
constexpr Option<Choice> kOrder{"order",
                                "of the digits of the sum, the last one first or as one writes it",
                                {"reversed plain"},
                                "reversed"};

std::int64_t digits_of(std::int64_t context) {
  if (context < 3 || context > 9 || context % 3 != 0)
    throw ValueError(text("addition: context = ", context,
                          ": it must be 3, 6 or 9, three times the digits of a number"));
  return context / 3;
}

std::int64_t power_of_ten(std::int64_t digits) {
  return digits ? 10 * power_of_ten(digits - 1) : 1;
}

/// The digits of a number, the first `count` from the last one on.
std::vector<std::int64_t> last_digits(std::int64_t number, std::int64_t count) {
  std::vector<std::int64_t> digits;
  for (; count > 0; --count, number /= 10) digits.push_back(number % 10);
  return digits;
}

/// D digits, D digits, and the D + 1 digits of their sum, without any sign between them; T = 3 D.
class AdditionTask : public CountedTask {
 public:
  explicit AdditionTask(const TaskOptions& options)
      : AdditionTask(digits_of(options.context.value_or(kAdditionContext)),
                     kOrder.of(options) == "plain", Rng(options.seed).stream("addition held out")) {
  }

  std::int64_t context() const override { return 3 * digits_; }
  const Tokenizer& tokenizer() const override { return tokenizer_; }

  /// A digit of the sum looks at the same digit of the first number.
  std::vector<Cell> alignment(const Batch&, std::int64_t) const override {
    std::vector<Cell> cells;
    for (std::int64_t i = 0; i < digits_; ++i) {
      const std::int64_t place = plain_ ? i + 1 : i;  // of the sum
      cells.push_back({.query = 2 * digits_ - 1 + place, .key = plain_ ? i : digits_ - 1 - i});
    }
    return cells;
  }

 private:
  AdditionTask(std::int64_t digits, bool plain, Rng rng)
      : CountedTask(power_of_ten(2 * digits),
                    std::min<std::int64_t>(500, power_of_ten(2 * digits) / 5), rng),
        digits_(digits),
        plain_(plain) {}

  Row row(std::int64_t number) const override {
    const std::int64_t limit = power_of_ten(digits_), a = number / limit, b = number % limit;
    std::vector<std::int64_t> ids;
    const auto append = [&](std::int64_t value, std::int64_t count, bool plain) {
      std::vector<std::int64_t> digits = last_digits(value, count);
      if (plain) std::ranges::reverse(digits);
      ids.insert(ids.end(), digits.begin(), digits.end());
    };
    append(a, digits_, true);
    append(b, digits_, true);
    append(a + b, digits_ + 1, plain_);
    return next_token_row(ids, 2 * digits_ - 1);
  }

  std::int64_t digits_;
  bool plain_;
  CharacterTokenizer tokenizer_{"0123456789"};
};

}  // namespace

TaskInfo addition_task() {
  return {
      .name = "addition",
      .summary = "add two numbers of 2 digits",
      .description =
          R"(A row is two numbers of 2 digits and the 3 digits of their sum, without + and =. The loss
is on the sum. Its digits come from the last to the first, as one adds on paper: the carry
is known when it is needed. With --order plain they come as one writes them; the first
digit then depends on all that follow, and takes longer to learn. 500 of the 10,000
problems are held out. The context says how long the numbers are: three times their
digits.)",
      .citation = "Karpathy, minGPT, github.com/karpathy/minGPT: projects/adder",
      .recipe = {.layers = 3,
                 .heads = 3,
                 .d_model = 48,
                 .context = kAdditionContext,
                 .batch = 64,
                 .steps = 3000,
                 .lr = 3e-3,
                 .warmup = 50,
                 .schedule = "cosine",
                 .weight_decay = 0.1,
                 .beta2 = 0.95,
                 .eval_every = 250},
      .options = {kOrder},
      .make = [](const TaskOptions& options) { return std::make_unique<AdditionTask>(options); },
  };
}

}  // namespace heed
