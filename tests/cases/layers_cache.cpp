// Cases of decoding with a cache of keys and values.

#include "layers_support.h"

namespace heed::layer_tests {
namespace {

constexpr std::int64_t kContext = 8;

/// ids (B, T) from position `start` on, until `stop`.
Tokens part(const Tokens& ids, std::int64_t start, std::int64_t stop) {
  std::vector<std::int64_t> result;
  for (std::int64_t b = 0; b < ids.dim(0); ++b)
    for (std::int64_t t = start; t < stop; ++t)
      result.push_back(ids.data()[static_cast<std::size_t>(b * ids.dim(1) + t)]);
  return Tokens(std::move(result), {ids.dim(0), stop - start});
}

/// The logits of `ids` (B, T), read `step(position)` at a time.
template <class Step>
Tensor decoded(const Transformer& model, const Tokens& ids, Step step) {
  KvCache cache;
  std::vector<Tensor> logits;
  for (std::int64_t t = 0; t < ids.dim(1); t = cache.length())
    logits.push_back(model(part(ids, t, t + step(t)), cache));
  return concat(logits, 1);
}

/// One of everything that the settings of a model can change on the way of keys and values.
std::vector<TransformerConfig> tiny_models() {
  const TransformerConfig plain{
      .vocabulary = 5, .context = kContext, .layers = 2, .heads = 2, .d_model = 8};
  std::vector<TransformerConfig> all(6, plain);
  all[1].layers = 1;
  all[2].heads = 8;
  all[3].heads = 1;
  all[4].tied_embedding = true;
  all[5].scale = 1.0;
  return all;
}

TEST(Cases, L09_CachedDecodingIsTheFullForward) {
  Rng rng(9);
  for (const TransformerConfig& config : tiny_models())
    for (const DType dtype : {f32, f64}) {
      Transformer model(config, rng);
      to(model, dtype);
      stir(model, rng);
      const NoGrad quiet;
      const Tokens ids = random_tokens({2, kContext}, 5, rng);
      const Tensor full = model(ids);
      for (const std::int64_t prompt : {std::int64_t{1}, std::int64_t{2}, kContext}) {
        const Tensor cached =
            decoded(model, ids, [=](std::int64_t t) { return t == 0 ? prompt : 1; });
        ASSERT_EQ(cached.shape(), full.shape());
        expect_near(cached, full.to_vector(), dtype == f32 ? 1e-5 : 1e-12);
      }
    }
}

TEST(Cases, L09_InPartsOfAnyLength) {
  Rng rng(10);
  Transformer model(tiny_models().front(), rng);
  stir(model, rng);
  const NoGrad quiet;
  for (int round = 0; round < 20; ++round) {
    const Tokens ids = random_tokens({3, kContext}, 5, rng);
    const Tensor cached =
        decoded(model, ids, [&](std::int64_t t) { return 1 + rng.integer(kContext - t); });
    expect_near(cached, model(ids).to_vector(), 1e-5);
  }
}

/// Every position scheme, place of norms, number of heads of keys and kind of Mlp.
std::vector<TransformerConfig> every_kind() {
  std::vector<TransformerConfig> all;
  for (const Positions positions : kPositions)
    for (const NormPlace norm : kNormPlaces)
      for (const std::int64_t kv_heads : {0, 1, 2})
        for (const Activation activation : {Activation::relu, Activation::swiglu, Activation::none})
          all.push_back({.vocabulary = 5,
                         .context = kContext,
                         .layers = 2,
                         .heads = 4,
                         .kv_heads = kv_heads,
                         .d_model = 8,
                         .d_ff = 6,
                         .positions = positions,
                         .norm = norm,
                         .norm_kind = kv_heads == 1 ? NormKind::rms : NormKind::layer,
                         .activation = activation});
  return all;
}

TEST(Cases, L09_OfEveryKindWithEveryPrompt) {
  const NoGrad quiet;
  Rng rng(12);
  for (const TransformerConfig& config : every_kind()) {
    Transformer model(config, rng);
    to(model, f64);
    stir(model, rng);
    Transformer single = clone(model);
    to(single, f32);
    const Tokens ids = random_tokens({2, kContext}, 5, rng);
    std::vector<bool> padding(2 * kContext, false);
    for (std::int64_t place = rng.integer(3); place >= 0; --place)  // in front, of one row
      padding[static_cast<std::size_t>(kContext + place)] = true;
    for (const bool padded : {false, true}) {
      const Mask hidden = padded ? mask(padding, {2, kContext}) : Mask();
      const Tensor full = model(ids, hidden);
      const auto check = [&](const Transformer& checked, std::int64_t prompt, double tolerance) {
        KvCache cache;
        std::vector<Tensor> logits;
        for (std::int64_t t = 0; t < kContext; t = cache.length()) {
          const std::int64_t stop = t == 0 ? prompt : t + 1;
          Mask some;
          if (padded) {
            std::vector<bool> columns(padding.begin() + t, padding.begin() + stop);
            columns.insert(columns.end(), padding.begin() + kContext + t,
                           padding.begin() + kContext + stop);
            some = mask(columns, {2, stop - t});
          }
          logits.push_back(checked(part(ids, t, stop), cache, some));
        }
        const Tensor cached = concat(logits, 1);
        expect_near(cached, full.to_vector(), tolerance);
      };
      for (std::int64_t prompt = 1; prompt <= kContext; ++prompt) check(model, prompt, 1e-10);
      if (config.norm == NormPlace::pre) check(single, 1, 1e-5);
    }
    if (testing::Test::HasFailure()) {
      FAIL() << name(config.positions) << ", norm " << name(config.norm) << ", kv_heads "
             << config.kv_heads << ", " << name(config.activation);
    }
  }
}

/// Only a table of positions has an end.
TEST(Cases, L08_OtherPositionsGoOnPastTheContext) {
  const NoGrad quiet;
  Rng rng(13);
  for (const Positions positions :
       {Positions::sinusoidal, Positions::rotary, Positions::alibi, Positions::none}) {
    TransformerConfig config = tiny_models().front();
    config.positions = positions;
    Transformer model(config, rng);
    to(model, f64);
    stir(model, rng);
    const Tokens ids = random_tokens({1, 3 * kContext}, 5, rng);
    const Tensor full = model(ids);
    EXPECT_EQ(full.shape(), (Shape{1, 3 * kContext, 5}));
    expect_near(decoded(model, ids, [](std::int64_t t) { return t == 0 ? kContext : 1; }),
                full.to_vector(), 1e-10);
  }
}

TEST(Cases, L08_TheCacheIsLongerThanTheContext) {
  Rng rng(11);
  const Transformer model(tiny_models().front(), rng);
  KvCache cache;
  model(random_tokens({1, kContext}, 5, rng), cache);
  EXPECT_THAT(message<IndexError>([&] {
                model(random_tokens({1, 1}, 5, rng), cache);
              }),
              testing::HasSubstr("context 8, got 1 positions from 8 on; begin again"));
}

}  // namespace
}  // namespace heed::layer_tests
