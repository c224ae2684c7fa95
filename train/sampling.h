#pragma once

#include <heed/autograd/rng.h>
#include <heed/autograd/tensor.h>
#include <heed/autograd/tokens_mask.h>
#include <heed/layers/transformer.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace heed {

struct SamplingOptions {
  double temperature = 1;                  ///< divides the logits; 0 takes the likeliest
  std::optional<std::int64_t> top_k = {};  ///< only the k likeliest; all of them unless given
  /// Only the likeliest that together have this probability, of those that top_k leaves (Holtzman
  /// et al., arXiv:1904.09751, eq. 2).
  double top_p = 1;
  /// Only those that have this share of the likeliest one's probability (Nguyen et al.,
  /// arXiv:2407.01082).
  double min_p = 0;
};

/// Throws ValueError for a temperature that is negative or not finite, for top_k < 1, and unless
/// 0 < top_p <= 1 and 0 <= min_p <= 1.
void validate(const SamplingOptions& options);

/// An id drawn from softmax(logits / temperature), of those that the options leave. At temperature
/// 0, or with one left, the first likeliest one, and nothing is drawn from `rng`. Throws NonFinite
/// if no logit is finite or one is NaN, and ValueError as validate does.
std::int64_t sample_token(std::span<const double> logits, const SamplingOptions& options, Rng& rng);

/// What `generate` made.
struct Generated {
  std::vector<std::int64_t> ids;  ///< the new ones alone
  /// How many of all ids the model could not see when it chose the last one: its context is shorter
  /// than they are.
  std::int64_t forgotten = 0;
};

/// Continues a prompt by `count` ids, each chosen from the model's logits (1, T, V) for the last
/// `context` ids there are by then. Throws ValueError for an empty prompt, a negative count, a
/// context below 1, and as validate does.
Generated generate(const std::function<Tensor(const Tokens&)>& logits, std::int64_t context,
                   std::span<const std::int64_t> prompt, std::int64_t count,
                   const SamplingOptions& options, Rng& rng);
/// The same for a causal model with a KvCache, at the cost of the new ids alone. Once the context
/// is full, every id takes another position with each new one, and all are read again.
Generated generate(const Transformer& model, std::span<const std::int64_t> prompt,
                   std::int64_t count, const SamplingOptions& options, Rng& rng);

}  // namespace heed
