#include <heed/autograd/engine.h>
#include <heed/autograd/rng.h>
#include <heed/data/suggest.h>
#include <heed/tests/autograd/op_table.h>
#include <heed/train/cli/bench.h>
#include <heed/train/cli/bench_ops.h>
#include <heed/train/cli/bench_table.h>
#include <heed/train/cli/bench_timing.h>
#include <heed/train/cli/threads.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace heed::cli {
namespace {

using op_table::Row;

/// The rows of the named ops, in the order of the table. Throws ValueError for one not known.
std::vector<const Row*> chosen(const std::vector<std::string>& names) {
  std::vector<std::string> known;  // each once: an op may have several rows
  for (const Row& row : op_table::rows())
    if (std::ranges::find(known, row.about.op) == known.end()) known.push_back(row.about.op);
  for (const std::string& name : names)
    if (std::ranges::find(known, name) == known.end())
      throw ValueError(unknown_name("op", name, known));
  std::vector<const Row*> result;
  for (const Row& row : op_table::rows())
    if (names.empty() || std::ranges::find(names, row.about.op) != names.end())
      result.push_back(&row);
  return result;
}

std::string shapes_of(const Row& row) {
  std::string result;
  for (const op_table::In& input : row.variants.front().inputs)
    result += text(result.empty() ? "" : " ", input.shape);
  return result;
}

}  // namespace

RowCalls calls_of(const Row& row) {
  const op_table::Variant& variant = row.variants.front();
  op_table::List x = op_table::draw(variant, f32);
  if (row.order > 0)
    for (Tensor& input : x) input.requires_grad_();
  const auto forward = [&variant, x] { variant.call(x); };
  const Tensor y = variant.call(x);
  if (!y.requires_grad()) return {forward, [] {}};
  Rng rng(1);
  const Tensor seed = normal(y.shape(), rng, 0, 1, y.dtype());
  return {forward, [x, y, seed] { grad(y, x, {.retain_graph = true, .seed = seed}); }};
}

int bench_ops(const BenchOps& arguments) {
  use_threads(arguments.threads);
  const std::vector<const Row*> rows = chosen(arguments.names);
  std::vector<std::function<void()>> works;
  for (const Row* row : rows) {
    RowCalls calls = calls_of(*row);
    works.push_back(std::move(calls.forward));
    works.push_back(std::move(calls.backward));
  }
  const std::vector<Timings> timings = interleaved(works, arguments.seconds);

  const BenchTable table({{"op", 26}, {"inputs", 24}, {"forward us", 10}, {"backward us", 11}},
                         arguments.json);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool differentiable = rows[i]->order > 0;
    const double forward = 1e3 * timings[2 * i].min_ms();
    const double backward = 1e3 * timings[2 * i + 1].min_ms();
    Fields fields = {{"event", "op"},
                     {"op", rows[i]->about.op},
                     {"call", rows[i]->declaration},
                     {"inputs", shapes_of(*rows[i])},
                     {"forward_us", forward},
                     {"forward_median_us", 1e3 * timings[2 * i].median_ms()}};
    if (differentiable) {
      fields.push_back({"backward_us", backward});
      fields.push_back({"backward_median_us", 1e3 * timings[2 * i + 1].median_ms()});
    }
    table.row({rows[i]->about.op, shapes_of(*rows[i]), fmt::format("{:.3f}", forward),
               differentiable ? fmt::format("{:.3f}", backward) : ""},
              fields);
  }
  if (arguments.json)
    out.raw(json_line({{"event", "result"}, {"rows", static_cast<std::int64_t>(rows.size())}}));
  return kOk;
}

}  // namespace heed::cli
