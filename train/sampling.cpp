#include <heed/autograd/error.h>
#include <heed/autograd/grad_mode.h>
#include <heed/train/sampling.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace heed {
namespace {

/// Continues a prompt. `read(ids, start)` gives logits (1, T, V) whose last row is that of the last
/// id, from the ids at `start` and after it.
template <class Read>
Generated continue_with(Read read, std::int64_t context, std::span<const std::int64_t> prompt,
                        std::int64_t count, const SamplingOptions& options, Rng& rng) {
  validate(options);
  if (prompt.empty()) throw ValueError("generate: the prompt is empty; give at least one id");
  if (count < 0) throw ValueError(text("generate: count = ", count, " is negative"));
  if (context < 1) throw ValueError(text("generate: context = ", context, " is below 1"));

  const NoGrad quiet;
  std::vector<std::int64_t> ids(prompt.begin(), prompt.end());
  Generated made;
  for (std::int64_t i = 0; i < count; ++i) {
    made.forgotten = std::max<std::int64_t>(std::ssize(ids) - context, 0);
    const Tensor logits = read(ids, made.forgotten);  // (1, T, V)
    const std::vector<double> all = logits.to_vector();
    const auto last = std::span(all).last(static_cast<std::size_t>(logits.dim(-1)));
    ids.push_back(sample_token(last, options, rng));
  }
  made.ids.assign(ids.begin() + std::ssize(prompt), ids.end());
  return made;
}

/// The ids at `start` and after it, as one row.
Tokens row(const std::vector<std::int64_t>& ids, std::int64_t start) {
  return tokens({ids.begin() + start, ids.end()}, {1, std::ssize(ids) - start});
}

}  // namespace

void validate(const SamplingOptions& options) {
  if (!(options.temperature >= 0 && std::isfinite(options.temperature)))
    throw ValueError(text("sampling: temperature = ", options.temperature,
                          " must be a finite number of at least 0"));
  if (options.top_k && *options.top_k < 1)
    throw ValueError(text("sampling: top_k = ", *options.top_k, " must be at least 1"));
  if (!(options.top_p > 0 && options.top_p <= 1))
    throw ValueError(text("sampling: top_p = ", options.top_p, " must be above 0 and at most 1"));
  if (!(options.min_p >= 0 && options.min_p <= 1))
    throw ValueError(text("sampling: min_p = ", options.min_p, " must be from 0 to 1"));
}

std::int64_t sample_token(std::span<const double> logits, const SamplingOptions& options,
                          Rng& rng) {
  validate(options);
  if (std::ranges::any_of(logits, [](double x) { return std::isnan(x); }))
    throw NonFinite("sampling: a logit is NaN");
  std::vector<std::int64_t> ids(logits.size());
  std::iota(ids.begin(), ids.end(), 0);
  const auto at = [&](std::int64_t id) { return logits[static_cast<std::size_t>(id)]; };
  std::ranges::stable_sort(ids, std::greater(), at);
  if (ids.empty() || !std::isfinite(at(ids.front())))
    throw NonFinite("sampling: no logit is the largest finite one");

  const auto kept = static_cast<std::int64_t>(ids.size());
  const std::int64_t k = std::min(options.top_k.value_or(kept), kept);
  if (options.temperature == 0 || k == 1) return ids.front();
  std::vector<double> up_to;  // running sums of exp((logit - largest) / temperature)
  double sum = 0;
  std::int64_t likely = 0;  // how many min_p leaves
  for (std::int64_t i = 0; i < k; ++i) {
    const double weight =
        std::exp((at(ids[static_cast<std::size_t>(i)]) - at(ids.front())) / options.temperature);
    likely += weight >= options.min_p;
    up_to.push_back(sum += weight);
  }
  const std::int64_t nucleus =
      options.top_p < 1 ? std::ranges::lower_bound(up_to, options.top_p * sum) - up_to.begin() + 1
                        : k;
  const std::int64_t left = std::min(likely, nucleus);
  if (left == 1) return ids.front();
  up_to.resize(static_cast<std::size_t>(left));
  const auto chosen = std::ranges::upper_bound(up_to, rng.uniform() * up_to.back()) - up_to.begin();
  return ids[static_cast<std::size_t>(std::min<std::ptrdiff_t>(chosen, left - 1))];
}

Generated generate(const std::function<Tensor(const Tokens&)>& logits, std::int64_t context,
                   std::span<const std::int64_t> prompt, std::int64_t count,
                   const SamplingOptions& options, Rng& rng) {
  const auto read = [&](const std::vector<std::int64_t>& ids, std::int64_t start) {
    return logits(row(ids, start));
  };
  return continue_with(read, context, prompt, count, options, rng);
}

Generated generate(const Transformer& model, std::span<const std::int64_t> prompt,
                   std::int64_t count, const SamplingOptions& options, Rng& rng) {
  const std::int64_t context = model.config.context;
  if (!model.config.causal)  // each new id changes what all the others are
    return generate([&](const Tokens& ids) { return model(ids); }, context, prompt, count, options,
                    rng);
  KvCache cache;
  std::int64_t first = 0;  // of the ids in the cache
  const auto read = [&](const std::vector<std::int64_t>& ids, std::int64_t start) {
    if (start != std::exchange(first, start)) cache = {};
    return model(row(ids, start + cache.length()), cache);
  };
  return continue_with(read, context, prompt, count, options, rng);
}

}  // namespace heed
