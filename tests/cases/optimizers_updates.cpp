#include <gtest/gtest.h>
#include <heed/autograd/autograd.h>
#include <heed/train/train.h>

namespace heed {
namespace {

/// What [[1]] becomes under each of `steps` equal gradients.
template <class Make>
std::vector<double> path(int steps, double gradient, Make&& make) {
  Tensor p = ones({1, 1}, f64).requires_grad_();
  auto optimizer = make(Parameters{{"p", p}});
  std::vector<double> values;
  for (int i = 0; i < steps; ++i) {
    optimizer.zero_grad();
    backward(sum(p * gradient));
    optimizer.step();
    values.push_back(p.item());
  }
  return values;
}

// The values of these cases are given to nine decimals.
void expect_path(const std::vector<double>& found, const std::vector<double>& right) {
  ASSERT_EQ(found.size(), right.size());
  for (std::size_t i = 0; i < right.size(); ++i) EXPECT_NEAR(found[i], right[i], 1e-9);
}

TEST(Cases, O01AdamWDecouplesDecay) {
  const AdamWOptions options{.lr = .1, .weight_decay = .1};
  expect_path(path(3, .5, [&](Parameters p) { return AdamW(std::move(p), options); }),
              {.890000002, .781100004, .673289006});
}

TEST(Cases, O01AdamDecaysThroughTheGradient) {
  const AdamOptions options{.lr = .1, .weight_decay = .1};
  expect_path(path(3, .5, [&](Parameters p) { return Adam(std::move(p), options); }),
              {.900000002, .800047340, .700174575});
}

TEST(Cases, O03AdamCorrectsItsBias) {
  expect_path(path(3, .5, [](Parameters p) { return Adam(std::move(p), {.lr = .1}); }),
              {.900000002, .800000004, .700000006});
}

TEST(Cases, O04EpsStandsOutsideTheRoot) {
  expect_path(
      path(2, 1e-8, [](Parameters p) { return Adam(std::move(p), {.lr = .1, .eps = 1e-8}); }),
      {.95, .90});
}

TEST(Cases, O05DecayIsForMatrices) {
  Tensor matrix = full({2, 2}, 2, f64).requires_grad_(), vector = full({2}, 2, f64);
  vector.requires_grad_();
  AdamW optimizer({{"matrix", matrix}, {"vector", vector}}, {.lr = .1, .weight_decay = .1});
  backward(sum(matrix * 0.) + sum(vector * 0.));
  optimizer.step();
  for (double value : matrix.to_vector()) EXPECT_DOUBLE_EQ(value, 2 * .99);
  for (double value : vector.to_vector()) EXPECT_EQ(value, 2);
}

TEST(Cases, L15TiedParameterIsStepOnce) {
  Tensor w = ones({1}, f64).requires_grad_();
  Sgd optimizer({{"a", w}, {"b", w}}, {.lr = .1, .momentum = .9});
  backward(sum(w * 2. + w * 3.));
  optimizer.step();
  EXPECT_DOUBLE_EQ(w.item(), .5);
  EXPECT_EQ(optimizer.parameters().size(), 1u);
  EXPECT_EQ(optimizer.state().size(), 2u) << "steps and momentum, of one parameter";
}

}  // namespace
}  // namespace heed
