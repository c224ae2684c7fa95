#include <thread>

#include "support.h"

namespace heed::layer_tests {
namespace {

using testing::HasSubstr;

constexpr TransformerConfig kTiny{
    .vocabulary = 5, .context = 4, .layers = 2, .heads = 2, .d_model = 8, .dropout = 0.1};

Tokens some_tokens() { return tokens({3, 0, 4, 2, 1, 1, 0, 4}, {2, 4}); }

struct Fixture {
  Rng rng{31};
  Transformer model{kTiny, rng};

  Fixture() { stir(model, rng); }
};

Tensor identity(const Tensor& x) { return x; }

TEST(Recorder, FindsTheWeightsOfEveryBlockByPath) {
  const Fixture f;
  Recorder recorder(f.model);
  f.model(some_tokens());
  EXPECT_EQ(recorder.names(),
            (std::vector<std::string>{"blocks.0.attention.weights", "blocks.1.attention.weights"}));
  const Tensor a = recorder.at("blocks.1.attention.weights");
  EXPECT_EQ(a.shape(), (Shape{2, 2, 4, 4}));
  expect_near(sum(a, -1), std::vector<double>(16, 1.0), 1e-6);
  for (std::int64_t i = 0; i < 4; ++i)
    for (std::int64_t j = i + 1; j < 4; ++j)
      EXPECT_EQ(sum(slice(slice(a, 2, i, i + 1), 3, j, j + 1)).item(), 0) << i << ", " << j;
}

TEST(Recorder, RecordsWhatTheOutputWasMadeOf) {
  Rng rng(1);
  MultiHeadAttention m(6, 2, rng, {.causal = true});
  to(m, f64);
  stir(m, rng);
  const Tensor x = normal({2, 4, 6}, rng, 0, 1, f64);
  Recorder recorder(m);
  const Tensor y = m(x);
  const Tensor again = m.w_o(merge_heads(matmul(recorder.at("weights"), split_heads(m.w_v(x), 2))));
  expect_near(y, again.to_vector(), 1e-12);
}

TEST(Recorder, ChangesNoBitOfATrainingStep) {
  const Fixture f;
  const auto step = [&](bool record) {
    Rng rng(8);
    Training scope(rng);
    std::optional<Recorder> recorder;
    if (record) recorder.emplace(f.model);
    const Tensor loss = cross_entropy(f.model(some_tokens()), some_tokens());
    std::vector<std::vector<std::byte>> result{bytes(loss)};
    for (const Tensor& g : grad(loss, tensors(f.model))) result.push_back(bytes(g));
    EXPECT_EQ(record ? recorder->names().size() : 2u, 2u);
    return std::pair(result, rng.state());
  };
  EXPECT_EQ(step(false), step(true));
}

TEST(Recorder, NothingIsComputedIfNobodyLooks) {
  const Linear layer = [] {
    Rng rng(1);
    return Linear(1, 1, rng);
  }();
  int calls = 0;
  const auto compute = [&] {
    ++calls;
    return ones({1});
  };
  observe(layer, "x", compute);
  EXPECT_EQ(calls, 0);
  {
    Recorder recorder(layer);
    observe(layer, "x", compute);
    EXPECT_EQ(calls, 1);
  }
  observe(layer, "x", compute);
  EXPECT_EQ(calls, 1);
}

TEST(Recorder, KeepsTheLastAndForgetsWhenTold) {
  const Fixture f;
  Recorder recorder(f.model);
  f.model(some_tokens());
  f.model(tokens({1, 2, 3}, {1, 3}));
  EXPECT_EQ(recorder.names().size(), 2u);
  EXPECT_EQ(recorder.at("blocks.0.attention.weights").shape(), (Shape{1, 2, 3, 3}));
  recorder.clear();
  EXPECT_TRUE(recorder.names().empty());
}

TEST(Recorder, SaysWhatItHasIfANameIsWrong) {
  const Fixture f;
  Recorder recorder(f.model);
  EXPECT_THAT(message<ValueError>([&] { recorder.at("blocks.0.attention.weights"); }),
              HasSubstr("run the model"));
  f.model(some_tokens());
  EXPECT_THAT(message<ValueError>([&] { recorder.at("blocks.0.weights"); }),
              testing::AllOf(HasSubstr("\"blocks.0.weights\""),
                             HasSubstr("blocks.0.attention.weights, blocks.1.attention.weights")));
}

TEST(Recorder, ACopyOfTheModelIsAnError) {
  const Fixture f;
  const Transformer copy = f.model;
  {
    Recorder recorder(f.model);
    EXPECT_THAT(message<GraphError>([&] { copy(some_tokens()); }),
                testing::AllOf(HasSubstr("heed::MultiHeadAttention"), HasSubstr("\"weights\"")));
  }
  EXPECT_NO_THROW(copy(some_tokens()));
}

TEST(Recorder, TheInnermostThatKnowsTheLayerSeesIt) {
  Fixture f, g;
  Recorder outer(f.model);
  {
    Recorder inner(g.model);
    f.model(some_tokens());
    g.model(some_tokens());
    EXPECT_EQ(outer.names().size(), 2u);
    EXPECT_EQ(inner.names().size(), 2u);
    EXPECT_NE(outer.at("blocks.0.attention.weights").storage(),
              inner.at("blocks.0.attention.weights").storage());
    outer.clear();
    inner.clear();

    Recorder innermost(f.model);
    f.model(some_tokens());
    EXPECT_EQ(innermost.names().size(), 2u);
    EXPECT_TRUE(outer.names().empty());
    EXPECT_TRUE(inner.names().empty());
    const Transformer copy = f.model;
    EXPECT_THROW(copy(some_tokens()), GraphError);
  }
  f.model(some_tokens());
  EXPECT_EQ(outer.names().size(), 2u);
}

TEST(Recorder, MayEndInAnyOrder) {
  const Fixture f;
  auto first = std::make_unique<Recorder>(f.model);
  auto second = std::make_unique<Recorder>(f.model);
  first.reset();
  f.model(some_tokens());
  EXPECT_EQ(second->names().size(), 2u);
  second.reset();
  EXPECT_NO_THROW(f.model(some_tokens()));
  const Transformer copy = f.model;
  EXPECT_NO_THROW(copy(some_tokens()));
}

TEST(Recorder, AnOuterInterventionHoldsForItsModelWithin) {
  Fixture f, g;
  const Tensor plain = f.model(some_tokens());
  Recorder outer(f.model);
  outer.replace("blocks.0.attention.weights", [](const Tensor& w) { return 0.5 * w; });
  Recorder inner(g.model);
  EXPECT_NE(bytes(f.model(some_tokens())), bytes(plain));
}

TEST(Recorder, OneThreadOnly) {
  const Fixture f;
  Recorder recorder(f.model);
  std::thread([&] {
    const Transformer copy = f.model;
    NoGrad quiet;
    copy(some_tokens());
  }).join();
  EXPECT_TRUE(recorder.names().empty());
}

TEST(Recorder, KeepsTheGraphUnlessUnderNoGrad) {
  const Fixture f;
  Recorder recorder(f.model);
  f.model(some_tokens());
  const Tensor a = recorder.at("blocks.0.attention.weights");
  const Tensor slope = grad(probe(a), f.model.blocks[0].attention.w_q.weight);
  EXPECT_GT(norm(slope).item(), 0);
  NoGrad quiet;
  f.model(some_tokens());
  EXPECT_FALSE(recorder.at("blocks.0.attention.weights").requires_grad());
}

TEST(Recorder, AnInterventionReachesTheOutput) {
  Rng rng(1);
  MultiHeadAttention m(6, 2, rng, {.causal = true});
  to(m, f64);
  stir(m, rng);
  const Tensor x = normal({2, 4, 6}, rng, 0, 1, f64);
  Recorder recorder(m);
  recorder.replace("weights", [](const Tensor& w) { return full(w.shape(), 0.25, w.dtype()); });
  const Tensor y = m(x);
  const Tensor average = broadcast_to(mean(m.w_v(x), 1, true), {2, 4, 6});
  expect_near(y, m.w_o(average).to_vector(), 1e-12);
  EXPECT_EQ(recorder.at("weights").to_vector(), std::vector<double>(2 * 2 * 4 * 4, 0.25));
}

TEST(Recorder, TheIdentityPutsTheWeightsOnThePath) {
  Rng rng(1);
  MultiHeadAttention m(3, 1, rng);
  to(m, f64);
  const Tensor x = normal({1, 2, 3}, rng, 0, 1, f64);
  Recorder recorder(m);
  const Tensor beside = m(x);
  EXPECT_EQ(norm(grad(probe(beside), recorder.at("weights"))).item(), 0);

  recorder.replace("weights", identity);
  const Tensor y = m(x);
  Rng same(99);  // of probe
  const Tensor g = matmul(normal(y.shape(), same, 0, 1, f64), m.w_o.weight, {.transpose_b = true});
  const Tensor expected = matmul(g, m.w_v(x), {.transpose_b = true});
  expect_near(grad(probe(y), recorder.at("weights")), expected.to_vector(), 1e-12);
}

TEST(Recorder, RefusesAnInterventionThatCannotBeMeant) {
  const Fixture f;
  Recorder recorder(f.model);
  EXPECT_THAT(message<ValueError>([&] { recorder.replace("block.0.attention.weights", identity); }),
              testing::AllOf(HasSubstr("\"block.0.attention\""), HasSubstr("blocks.1.attention")));
  recorder.replace("blocks.0.attention.weights", [](const Tensor& w) { return sum(w, -1); });
  EXPECT_THAT(message<ShapeError>([&] { f.model(some_tokens()); }),
              testing::AllOf(HasSubstr("(2, 2, 4, 4)"), HasSubstr("(2, 2, 4)")));
  recorder.replace("blocks.0.attention.weights", [](const Tensor& w) { return w.to(f64); });
  EXPECT_THAT(message<DTypeError>([&] { f.model(some_tokens()); }),
              HasSubstr("its replacement f64"));
}

/// A layer and its first member stand at one address.
struct Inner {
  double factor = 2;
  Tensor operator()(const Tensor& x) const { return observe(*this, "x", factor * x); }
  void visit(Visitor&) {}
};
struct Outer {
  Inner inner;
  Tensor operator()(const Tensor& x) const { return observe(*this, "x", inner(x) + 1.0); }
  void visit(Visitor& v) { v("inner", inner); }
};

// A layer that only shows a value, and computes with another.
struct OnlyShows {
  Tensor operator()(const Tensor& x) const {
    observe(*this, "double", [&] { return 2 * x; });
    return x;
  }
  void visit(Visitor&) {}
};

TEST(Recorder, AnInterventionOnWhatIsOnlyShownIsRefused) {
  const OnlyShows layer;
  Recorder recorder(layer);
  layer(ones({2}));
  EXPECT_EQ(recorder.at("double").to_vector(), (std::vector<double>{2, 2}));
  recorder.replace("double", [](const Tensor& x) { return x; });
  EXPECT_THAT(message<GraphError>([&] { layer(ones({2})); }), HasSubstr("intervened"));
}

TEST(Recorder, TellsALayerFromItsFirstMember) {
  const Outer layer;
  ASSERT_EQ(static_cast<const void*>(&layer), static_cast<const void*>(&layer.inner));
  Recorder recorder(layer);
  layer(full({1}, 3));
  EXPECT_EQ(recorder.at("inner.x").item(), 6);
  EXPECT_EQ(recorder.at("x").item(), 7);
  recorder.replace("inner.x", [](const Tensor& x) { return 10.0 * x; });
  EXPECT_EQ(layer(full({1}, 3)).item(), 61);
}

}  // namespace
}  // namespace heed::layer_tests
