#include <heed/autograd/error.h>
#include <heed/data/task.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace heed {

std::vector<Cell> Task::alignment(const Batch&, std::int64_t) const { return {}; }

std::vector<Baseline> Task::baselines() const {
  return {{"uniform", std::log(static_cast<double>(vocabulary()))}};
}

std::vector<Baseline> Task::uniform_and(std::vector<Baseline> more) const {
  const std::vector<Baseline> uniform = Task::baselines();
  more.insert(more.begin(), uniform.begin(), uniform.end());
  return more;
}

std::vector<Figure> Task::figures(const Batch&, const Answers&) const { return {}; }

double Figure::value() const {
  return count > 0 ? sum / count : std::numeric_limits<double>::quiet_NaN();
}

std::string Task::decode(std::span<const std::int64_t> ids) const {
  std::string shown;
  while (!ids.empty()) {
    const bool ignored = ids.front() == kIgnore;
    const auto known = std::ranges::find(ids, kIgnore) - ids.begin();  // those up to the next dot
    if (!shown.empty()) shown += tokenizer().gap();
    shown += ignored ? "·" : tokenizer().decode(ids.first(static_cast<std::size_t>(known)));
    ids = ids.subspan(ignored ? 1 : static_cast<std::size_t>(known));
  }
  return shown;
}

void Task::require_held_out(std::int64_t first, std::int64_t rows) const {
  const std::int64_t all = held_out_rows();
  if (rows < 1 || first < 0 || rows > all - first)
    throw IndexError(text("held_out: ", rows, " rows from row ", first, " on, of ", all));
}

}  // namespace heed
