// gradcheck_layer finds what is wrong with a user's layer, and says in which parameter.
#include "support.h"

namespace heed::layer_tests {
namespace {

using testing::HasSubstr;

/// y = x · W · scale + bias
struct Affine {
  Tensor weight, bias;
  Tensor scale;
  bool detached = false;

  explicit Affine(Rng& rng)
      : weight(normal({3, 2}, rng).requires_grad_()),
        bias(zeros({2}).requires_grad_()),
        scale(ones({}).requires_grad_()) {}

  Tensor operator()(const Tensor& x) const {
    return matmul(x, weight) * (detached ? scale.detach() : scale) + bias;
  }
  Tensor operator()(const Tensor& x, const Tensor& more) const { return (*this)(x) + more; }
  void visit(Visitor& v) {
    v("weight", weight);
    v("bias", bias);
    v("scale", scale);
  }
};

Tensor input(Shape shape) {
  Rng rng(12);
  return normal(shape, rng, 0, 1, f64);
}

TEST(GradcheckLayer, ComparesEveryInputAndEveryParameter) {
  Rng rng(1);
  const Affine layer(rng);
  const GradcheckResult one = gradcheck_layer(layer, {input({4, 3})}, {.order = 1});
  EXPECT_TRUE(one);
  EXPECT_EQ(one.checked, 12 + 6 + 2 + 1);
  const GradcheckResult two = gradcheck_layer(layer, {input({4, 3}), input({4, 2})});
  EXPECT_TRUE(two);
  EXPECT_EQ(two.order, 2);
  EXPECT_EQ(two.checked, 12 + 8 + 6 + 2 + 1 + 8);  // and the cotangent
}

TEST(GradcheckLayer, NamesTheParameterThatIsWrong) {
  Rng rng(1);
  Affine layer(rng);
  layer.detached = true;
  const GradcheckResult result = gradcheck_layer(layer, {input({4, 3})});
  EXPECT_FALSE(result);
  EXPECT_EQ(result.wrong, 1);
  EXPECT_THAT(result.message(), HasSubstr("worst is scale of shape (), element 0"));
}

/// y = x + bias², but half of the bias' gradient is lost: at 0, where it starts, both are 0.
struct SquaredBias {
  Tensor bias = zeros({2}).requires_grad_();

  Tensor operator()(const Tensor& x) const { return x + bias * bias.detach(); }
  void visit(Visitor& v) { v("bias", bias); }
};

TEST(GradcheckLayer, MovesParametersAwayFromWhereTheyStart) {
  EXPECT_FALSE(gradcheck_layer(SquaredBias(), {input({4, 2})}, {.order = 1}));
}

TEST(GradcheckLayer, LeavesTheLayerAlone) {
  Rng rng(1);
  const Affine layer(rng);
  const auto before = layer.weight.to_vector();
  EXPECT_TRUE(gradcheck_layer(layer, {input({2, 3})}));
  EXPECT_EQ(layer.weight.to_vector(), before);
  EXPECT_EQ(layer.weight.dtype(), f32);
  EXPECT_FALSE(layer.weight.grad().defined());
}

TEST(GradcheckLayer, WorksWhileARecorderIsAlive) {
  Rng rng(1);
  const MultiHeadAttention layer(4, 2, rng, {.causal = true});
  Recorder recorder(layer);
  EXPECT_TRUE(gradcheck_layer(layer, {input({1, 3, 4})}, {.order = 1}));
  layer(input({1, 3, 4}).to(f32));
  EXPECT_TRUE(recorder.at("weights").defined());
}

TEST(GradcheckLayer, ReluAtZeroIsAKink) {
  Rng rng(1);
  const GradcheckResult result = gradcheck_layer(
      Affine(rng), {tensor({1, 0, -1}, {3}, f64)},
      [](const Affine& layer, const auto& xs) { return relu(layer.scale * xs[0]); }, {.order = 1});
  EXPECT_TRUE(result);
  EXPECT_EQ(result.kinks, 1);
}

TEST(GradcheckLayer, SinglesAndATensorTooManyAreRefused) {
  Rng rng(1);
  const Affine layer(rng);
  EXPECT_THROW(gradcheck_layer(layer, {ones({4, 3})}), DTypeError);
  EXPECT_THAT(message<ValueError>([&] {
                gradcheck_layer(layer, {input({4, 3}), input({2}), input({2})});
              }),
              HasSubstr("the layer does not take 3 tensors"));
}

}  // namespace
}  // namespace heed::layer_tests
