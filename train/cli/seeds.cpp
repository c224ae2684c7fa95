#include <heed/autograd/error.h>
#include <heed/data/numbers.h>
#include <heed/train/cli/output.h>
#include <heed/train/cli/seeds.h>
#include <heed/train/metrics.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

namespace heed::cli {
namespace {

struct Measured {
  std::string name;
  Spread spread;
};

/// What the runs came to, number by number.
std::vector<Measured> measured(const std::vector<SessionResult>& results) {
  std::vector<Measured> all;
  const auto add = [&](std::string name, auto value) {
    std::vector<double> values;
    for (const SessionResult& result : results) values.push_back(value(result));
    all.push_back({std::move(name), spread_of(std::move(values))});
  };
  add("loss", [](const SessionResult& r) { return r.last->loss; });
  add("accuracy", [](const SessionResult& r) { return r.last->accuracy; });
  add("exact_match", [](const SessionResult& r) { return r.last->exact_match; });
  add("alignment", [](const SessionResult& r) { return r.last->alignment; });
  const std::vector<Figure>& figures = results.front().last->figures;  // of all, by their names
  for (std::size_t i = 0; i < figures.size(); ++i)
    add(figures[i].name, [i](const SessionResult& r) { return r.last->figures[i].value(); });
  add("seconds", [](const SessionResult& r) { return r.seconds; });
  return all;
}

using Seeds = std::vector<std::int64_t>;

/// What every result begins with.
Fields result(const Settings& settings, const Seeds& seeds) {
  return {{"event", "result"}, {"task", settings.task}, {"seeds", seeds}};
}

void summarise(const Settings& settings, const Seeds& seeds,
               const std::vector<SessionResult>& results, bool json) {
  const std::vector<Measured> all = measured(results);
  if (json) {
    Fields fields = result(settings, seeds);
    for (const auto& [name, spread] : all) {
      fields.push_back({name, spread.median});
      fields.push_back({name + "_low", spread.low});
      fields.push_back({name + "_high", spread.high});
    }
    out.raw(json_line(fields));
    return;
  }
  std::size_t width = 0;
  for (const Measured& row : all) width = std::max(width, row.name.size() + 1);
  out.line(fmt::format("\n{} with the seeds {}:", settings.task, fmt::join(seeds, ", ")));
  out.raw(fmt::format("{:<{}}{:>10}{:>10}{:>10}", "", width, "median", "lowest", "highest"));
  for (const auto& [name, spread] : all)
    if (!std::isnan(spread.median))
      out.raw(fmt::format("{:<{}}{:>10.4f}{:>10.4f}{:>10.4f}", name, width, spread.median,
                          spread.low, spread.high));
}

}  // namespace

std::vector<std::int64_t> parse_seeds(std::string_view written) {
  constexpr Whole kSeed{0, std::numeric_limits<std::int64_t>::max()};
  std::vector<std::int64_t> seeds;
  for (std::string_view rest = written;;) {
    const std::size_t comma = rest.find(',');
    const std::string_view one = rest.substr(0, comma);
    if (one.empty())
      throw ValueError(text("--seeds = \"", written, "\": they are numbers with commas between"));
    const std::int64_t seed = kSeed.read("--seeds", one);
    if (std::ranges::find(seeds, seed) != seeds.end())
      throw ValueError(text("--seeds = ", written, ": ", seed, " comes twice"));
    seeds.push_back(seed);
    if (comma == std::string_view::npos) return seeds;
    rest.remove_prefix(comma + 1);
  }
}

Spread spread_of(std::vector<double> values) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  if (values.empty() || std::ranges::any_of(values, [](double v) { return std::isnan(v); }))
    return {kNaN, kNaN, kNaN};
  std::ranges::sort(values);
  const std::size_t n = values.size();
  return {(values[(n - 1) / 2] + values[n / 2]) / 2, values.front(), values.back()};
}

int run_seeds(const Settings& settings, const Task& task, const SessionOptions& options,
              const std::vector<std::int64_t>& seeds) {
  SessionOptions each = options;
  each.one_of_many = true;
  int code = kOk;
  std::vector<SessionResult> results;
  Seeds done;
  const auto ended_early = [&](const std::string& reason) {
    Fields fields = result(settings, done);
    fields.push_back({"error", reason});
    if (options.json) out.raw_if_possible(json_line(fields));
  };
  for (const std::int64_t seed : seeds) {
    Settings seeded = settings;
    seeded.seed = seed;
    try {
      results.push_back(run_session(seeded, task, each));
    } catch (const std::exception& error) {
      ended_early(reason_of(error));
      throw;
    }
    code = std::max(code, results.back().code);
    if (!results.back().last) {
      ended_early("interrupted");
      return code;
    }
    done.push_back(seed);
  }
  summarise(settings, done, results, options.json);
  return code;
}

}  // namespace heed::cli
