#include <heed/autograd/error.h>
#include <heed/data/task.h>

#include <cmath>

namespace heed {

std::vector<Cell> Task::alignment(const Batch&, std::int64_t) const { return {}; }

std::vector<Baseline> Task::baselines() const {
  return {{"uniform", std::log(static_cast<double>(vocabulary()))}};
}

std::string Task::decode(std::span<const std::int64_t> ids) const {
  std::string shown;
  for (const std::int64_t& id : ids) shown += id == kIgnore ? "·" : tokenizer().decode({&id, 1});
  return shown;
}

void Task::require_held_out(std::int64_t first, std::int64_t rows) const {
  const std::int64_t all = held_out_rows();
  if (rows < 1 || first < 0 || rows > all - first)
    throw IndexError(text("held_out: ", rows, " rows from row ", first, " on, of ", all));
}

}  // namespace heed
