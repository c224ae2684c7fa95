// A layer as a user writes it: only public headers, a plain struct, no registration but visit.

#include "support.h"

using namespace heed;
using namespace heed::layer_tests;

namespace {

struct CausalSelfAttention {
  int64_t heads;
  Linear w_q, w_k, w_v, w_o;  // each (C, C); w_k has no bias: softmax would not see it

  CausalSelfAttention(int64_t channels, int64_t head_count, Rng& rng)
      : heads(head_count),
        w_q(channels, channels, rng),
        w_k(channels, channels, rng, {.bias = false}),
        w_v(channels, channels, rng),
        w_o(channels, channels, rng) {}

  Tensor operator()(const Tensor& x) const {  // (B, T, C)
    Tensor q = split_heads(w_q(x), heads), k = split_heads(w_k(x), heads),
           v = split_heads(w_v(x), heads);  // (B, H, T, D)
    Tensor scores =
        matmul(q, k, {.transpose_b = true}) / std::sqrt(double(q.dim(-1)));     // (B, H, T, T)
    Tensor p = softmax(masked_fill(scores, causal_mask(x.dim(1)), -infinity));  // rows sum to 1
    p = observe(*this, "weights", p);       // a Recorder sees it, an intervention may replace it
    return w_o(merge_heads(matmul(p, v)));  // (B, T, C)
  }
  void visit(Visitor& v) {
    v("w_q", w_q);
    v("w_k", w_k);
    v("w_v", w_v);
    v("w_o", w_o);
  }
};

/// Embeds, attends, answers: enough to read the token before.
struct Reader {
  Embedding tokens;
  PositionEmbedding positions;
  CausalSelfAttention attention;
  Linear head;

  explicit Reader(Rng& rng)
      : tokens(6, 16, rng), positions(8, 16, rng), attention(16, 2, rng), head(16, 6, rng) {}

  Tensor operator()(const Tokens& ids) const {
    return head(attention(tokens(ids) + positions(ids.dim(1))));
  }
  void visit(Visitor& v) {
    v("tokens", tokens);
    v("positions", positions);
    v("attention", attention);
    v("head", head);
  }
};

/// Rows of random ids; the target is the id one place to the left.
std::pair<Tokens, Tokens> previous_token(int64_t rows, Rng& rng) {
  std::vector<int64_t> ids, targets;
  for (int64_t n = 0; n < rows * 8; ++n) {
    targets.push_back(n % 8 == 0 ? kIgnore : ids.back());
    ids.push_back(rng.integer(6));
  }
  return {Tokens(ids, {rows, 8}), Tokens(targets, {rows, 8})};
}

TEST(UserLayer, IsTheLibrarysAttention) {
  Rng rng(1);
  CausalSelfAttention mine(8, 2, rng);
  to(mine, f64);
  stir(mine, rng);
  MultiHeadAttention theirs(8, 2, rng, {.causal = true});
  theirs = with_parameters(theirs, tensors(mine));
  const Tensor x = normal({2, 5, 8}, rng, 0, 1, f64);
  expect_near(mine(x), theirs(x).to_vector(), 1e-12);

  Recorder a(mine);
  Recorder b(theirs);
  mine(x);
  theirs(x);
  expect_near(a.at("weights"), b.at("weights").to_vector(), 1e-12);
}

TEST(UserLayer, Trains) {
  Rng rng(2);
  Reader model(rng);
  double first = 0, last = 0;
  for (int step = 0; step < 300; ++step) {
    const auto [inputs, targets] = previous_token(16, rng);
    const Tensor loss = cross_entropy(model(inputs), targets);
    last = loss.item();
    if (step == 0) first = last;
    backward(loss);
    descend(parameters(model), 0.3);
  }
  EXPECT_GT(first, std::log(6.0) - 0.2);
  EXPECT_LT(last, 0.2);

  Recorder recorder(model);
  const auto [inputs, targets] = previous_token(32, rng);
  model(inputs);
  const Tensor weights = recorder.at("attention.weights");  // (B, H, T, T)
  const Tensor before = slice(weights, 2, 1, 8) * slice(eye(8), 0, 0, 7);
  const double best = amax(sum(before, -1)).item();
  EXPECT_GT(best, 0.9);
}

TEST(UserLayer, HasRightGradients) {
  Rng rng(3);
  const CausalSelfAttention layer(4, 2, rng);
  EXPECT_TRUE(gradcheck_layer(layer, {normal({1, 3, 4}, rng, 0, 1, f64)},
                              [](const auto& m, const auto& xs) { return m(xs[0]); }));
}

}  // namespace
