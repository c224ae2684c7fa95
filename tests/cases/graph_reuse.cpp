// Cases of the graph: nodes used twice, graphs used twice, values changed behind its back.
#include <functional>
#include <utility>

#include "values.h"

namespace heed::cases {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(Cases, G01_NodeUsedTwice) {
  const auto f = [](const Tensor& x, const Tensor& a) {
    return x * (x * a) + (x * x) * a + x * (x * a);
  };
  const Tensor x = leaf({1});
  const Tensor constant = f(x, ones({1}, f64));
  expect_values(constant, {3});
  expect_values(grad(constant, x), {6});
  expect_values(grad(f(x, x), x), {9});

  const Tensor a = leaf({2});
  const Tensor b = 3 * a;
  const Tensor e = (b + 4) * (2 * (b + 1));
  expect_values(e, {140});
  expect_values(grad(e, a), {102});
}

TEST(Cases, G02_BackwardTwiceOnAKeptGraph) {
  const Tensor x = leaf({2});
  const Tensor z = 3 * square(x);
  backward(z, {.retain_graph = true});
  expect_values(x.grad(), {12});
  backward(z, {.retain_graph = true});
  expect_values(x.grad(), {24});
  backward(z);
  expect_values(x.grad(), {36});
}

TEST(Cases, G03_SecondBackwardNeedsTheGraph) {
  const std::vector<std::pair<std::string, std::function<Tensor(const Tensor&)>>> ops = {
      {"add", [](const Tensor& x) { return x + x; }},
      {"multiply", [](const Tensor& x) { return x * x; }},
      {"exp", [](const Tensor& x) { return exp(x); }},
      {"softmax", [](const Tensor& x) { return softmax(x); }},
      {"matmul", [](const Tensor& x) { return matmul(x, x); }}};
  for (const auto& [name, f] : ops) {
    SCOPED_TRACE(name);
    const Tensor x = leaf({1, 2, 3, 4}, {2, 2});
    const Tensor y = f(x);
    const auto g = ones(y.shape(), f64);
    backward(y, {.seed = g});
    const std::vector<double> once = x.grad().to_vector();
    EXPECT_THAT(message<GraphError>([&] { backward(y, {.seed = g}); }),
                AllOf(HasSubstr(name + ": its saved tensors were released"),
                      HasSubstr("retain_graph = true")));
    EXPECT_THAT(message<GraphError>([&] { grad(y, x, {.seed = g}); }),
                HasSubstr("retain_graph = true"));
    expect_values(x.grad(), once);
  }
}

TEST(Cases, G07_SavedTensorChangedInPlace) {
  Tensor x = leaf({1, 2});
  const Tensor w = leaf({3, 4}), c = tensor({5, 6}, {2}, f64);
  const Tensor by_leaf = sum(x * w), by_constant = sum(x * c);
  x.mutate<double>()[0] = 100;
  EXPECT_THAT(message<GraphError>([&] { grad(by_leaf, w); }),
              AllOf(HasSubstr("multiply"), HasSubstr("input 0"), HasSubstr("(2)"),
                    HasSubstr("changed in place")));
  expect_values(grad(by_constant, x), {5, 6});  // needs c only, which is as it was
}

TEST(Cases, G07_SavedOutputChangedInPlace) {
  const Tensor x = leaf({1, 2});
  const Tensor y = exp(x);
  Tensor view = reshape(y.detach(), {2, 1});
  view.mutate<double>()[0] = 100;
  EXPECT_THAT(message<GraphError>([&] { grad(sum(y), x); }),
              AllOf(HasSubstr("exp"), HasSubstr("output"), HasSubstr("changed in place")));
}

TEST(Cases, G07_StepBetweenForwardAndBackward) {
  Tensor w = leaf({3}), x = leaf({2});
  const Tensor loss = square(w * x);
  for (double& value : w.mutate<double>()) value -= 0.1;  // what an optimizer does
  EXPECT_THAT(message<GraphError>([&] { backward(loss); }), HasSubstr("changed in place"));
  EXPECT_FALSE(w.grad().defined());
  EXPECT_FALSE(x.grad().defined());
  backward(square(w * x));
  expect_values(w.grad(), {2 * 2.9 * 4});
}

}  // namespace
}  // namespace heed::cases
