#include <heed/autograd/error.h>
#include <heed/layers/config.h>

#include <cmath>
#include <string_view>

namespace heed {

const TransformerConfig& validate(const TransformerConfig& config) {
  const auto at_least = [](std::string_view field, std::int64_t value, std::int64_t least) {
    if (value < least) throw ValueError(text(field, " = ", value, " must be at least ", least));
  };
  at_least("vocabulary", config.vocabulary, 1);
  at_least("context", config.context, 1);
  at_least("layers", config.layers, 1);
  at_least("d_ff", config.d_ff, 0);
  validate(attention_config(config), config.d_model, config.heads);
  name(config.norm);
  name(config.norm_kind);
  name(config.activation);
  if (!(config.eps > 0 && std::isfinite(config.eps)))
    throw ValueError(text("eps = ", config.eps, " must be a positive number"));
  return config;
}

AttentionConfig attention_config(const TransformerConfig& config) {
  return {.causal = config.causal,
          .scale = config.scale,
          .dropout = config.dropout,
          .kv_heads = config.kv_heads,
          .positions = config.positions};
}

NormOptions norm_options(const TransformerConfig& config) {
  return {.kind = config.norm_kind, .off = config.norm == NormPlace::none, .eps = config.eps};
}

NormOptions final_norm_options(const TransformerConfig& config) {
  NormOptions options = norm_options(config);
  options.off = config.norm != NormPlace::pre;  // the last block's own norm has it done already
  return options;
}

std::int64_t mlp_width(const TransformerConfig& config) {
  return config.d_ff == 0 ? 4 * config.d_model : config.d_ff;
}

}  // namespace heed
