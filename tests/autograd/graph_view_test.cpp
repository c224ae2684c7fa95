// The two pictures of a graph, letter by letter. Operands are named one by one: C++ leaves open
// which side of a + comes first, and nodes are numbered as they are made.
#include <heed/autograd/autograd.h>

#include "../cases/small_stack.h"
#include "support.h"

namespace heed {
namespace {

using GraphView = NothingStays;

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

Tensor polynomial(const Tensor& x) {
  const Tensor square = x * x, triple = 3 * x;
  return square + triple;
}

TEST_F(GraphView, TextIsAProgram) {
  const Tensor x = leaf({1, 2, 3});
  EXPECT_EQ(to_text(polynomial(x), {{"x", x}}), R"(4 nodes, f64
x = leaf                 (3)
%1 = multiply(x, x)      (3)  saves inputs
%2 = multiply_number(x)  (3)
%3 = add(%1, %2)         (3)
)");
}

TEST_F(GraphView, DotShowsEachNodeOnceAndEachUse) {
  const Tensor x = leaf({1, 2, 3});
  EXPECT_EQ(to_dot(polynomial(x), {{"x", x}}), R"dot(digraph heed {
  graph [ordering=in, label=f64];
  node [shape=box];
  n0 [label="x\n(3)", shape=ellipse];
  n1 [label="multiply\n(3)"];
  n0 -> n1 [style=bold];
  n0 -> n1 [style=bold];
  n2 [label="multiply_number\n(3)"];
  n0 -> n2;
  n3 [label="add\n(3)"];
  n1 -> n3;
  n2 -> n3;
}
)dot");
}

TEST_F(GraphView, ConstantsAndAbsentInputsAreShown) {
  const Tensor w = ones({3, 2}).requires_grad_();
  const Tensor y = softmax(linear(ones({4, 3}), w, {}));
  EXPECT_EQ(to_text(y), R"(3 nodes, f32
%0 = leaf                               (3, 2)
%1 = linear(constant (4, 3), %0, none)  (4, 2)  saves inputs
%2 = softmax(%1)                        (4, 2)  saves output
)");
  EXPECT_EQ(to_dot(y), R"dot(digraph heed {
  graph [ordering=in, label=f32];
  node [shape=box];
  n0 [label="leaf\n(3, 2)", shape=ellipse];
  n1 [label="linear\n(4, 2)"];
  c1_0 [label="constant\n(4, 3)", shape=plain];
  c1_0 -> n1 [style=bold];
  n0 -> n1 [style=bold];
  n2 [label="softmax\n(4, 2)", style=bold];
  n1 -> n2;
}
)dot");
}

TEST_F(GraphView, AnyTensorOfTheGraphCanHaveAName) {
  const Tensor x = leaf({1, 2, 3});
  const Tensor h = exp(x);
  const Tensor y = h + 1;
  const Parameters names{{"absent", {}}, {"x", x}, {"h", h}, {"again", h}, {"other", leaf({1})}};
  EXPECT_EQ(to_text(y, names), R"(3 nodes, f64
x = leaf            (3)
h = exp(x)          (3)  saves output
%2 = add_number(h)  (3)
)");
  EXPECT_TRUE(contains(to_dot(y, names), R"dot([label="h = exp\n(3)", style=bold])dot"));
}

TEST_F(GraphView, TwoTensorsOfOneNameAreToldApart) {
  const Tensor a = leaf({1}), b = leaf({2}), c = leaf({3}), d = leaf({4});
  const Tensor y = concat({a, b, c, d});
  const Parameters names{{"w", leaf({5})}, {"w", a}, {"w", b}, {"w#2", c}, {"w", d}, {"w", a}};
  EXPECT_EQ(to_text(y, names), R"(5 nodes, f64
w = leaf                         (1)
w#2 = leaf                       (1)
w#2#2 = leaf                     (1)
w#3 = leaf                       (1)
%4 = concat(w, w#2, w#2#2, w#3)  (4)
)");
  EXPECT_TRUE(contains(to_dot(y, names), R"dot(n1 [label="w#2\n(1)", shape=ellipse])dot"));
}

TEST_F(GraphView, AFrozenParameterHasItsName) {
  const Tensor x = leaf({1, 2}), frozen = tensor({3, 4}, {2}, f64), other = ones({2}, f64);
  const Tensor y = x * frozen, z = y * other;
  const Parameters names{{"frozen", frozen}};
  EXPECT_EQ(to_text(z, names), R"(3 nodes, f64
%0 = leaf                               (2)
%1 = multiply(%0, constant frozen (2))  (2)  saves inputs
%2 = multiply(%1, constant (2))         (2)  saves inputs
)");
  EXPECT_TRUE(
      contains(to_dot(z, names), R"dot(c1_1 [label="constant frozen\n(2)", shape=plain])dot"));
  EXPECT_EQ(to_text(frozen, names), "1 node, f64\n%0 = constant frozen  (2)\n");
  EXPECT_TRUE(contains(to_dot(frozen, names), R"dot(n0 [label="constant frozen\n(2)")dot"));
}

TEST_F(GraphView, QuotesBackslashesAndLineBreaksInNamesAreEscaped) {
  const Tensor x = leaf({1}), c = ones({1}, f64);
  EXPECT_EQ(to_text(x * c, {{"a \"b\"\nc\\", x}, {"\n", c}}), R"(2 nodes, f64
a \"b\"\nc\\ = leaf                           (1)
%1 = multiply(a \"b\"\nc\\, constant \n (1))  (1)  saves inputs
)");
  EXPECT_TRUE(
      contains(to_dot(x, {{"a \"b\" \\N\nc", x}}), R"dot(n0 [label="a \"b\" \\N\nc\n(1)", )dot"));
}

TEST_F(GraphView, OtherElementTypesAreNamedWhereTheyOccur) {
  const Tensor x = leaf({1, 2});
  const Tensor y = x.to(f32);
  const Tensor z = y * ones({2});
  EXPECT_EQ(to_text(z, {{"x", x}}), R"(3 nodes, f32
x = leaf                         (2) f64
%1 = to(x)                       (2)
%2 = multiply(%1, constant (2))  (2)  saves inputs
)");
}

TEST_F(GraphView, LongListsAreBrokenAndStayNarrow) {
  const Tensor w = leaf({1, 2});
  const std::string name = "blocks.0.attention.w_q.weight";
  EXPECT_EQ(to_text(concat({w, w, ones({1}, f64)}), {{name, w}}), R"(2 nodes, f64
blocks.0.attention.w_q.weight = leaf        (2)
%1 = concat(blocks.0.attention.w_q.weight,
            blocks.0.attention.w_q.weight,
            constant (1))                   (5)
)");
  const std::string wide = to_text(concat(std::vector<Tensor>(100, w)));
  for (std::size_t begin = 0, end = 0; begin < wide.size(); begin = end + 1) {
    end = wide.find('\n', begin);
    EXPECT_LE(end - begin, 80u) << wide.substr(begin, end - begin);
  }
}

TEST_F(GraphView, ReleasedValuesAreNoLongerSaved) {
  const Tensor x = leaf({1, 2});
  const Tensor y = sum(x * x);
  EXPECT_TRUE(contains(to_text(y), "saves inputs"));
  grad(y, x);
  EXPECT_FALSE(contains(to_text(y), "saves"));
  EXPECT_FALSE(contains(to_dot(y), "bold"));
}

TEST_F(GraphView, AGradientWithAGraphIsAProgramToo) {
  const Tensor x = leaf({1, 2, 3});
  const Tensor y = sum(square(x));
  const Tensor g = grad(y, x, {.create_graph = true});
  EXPECT_EQ(to_text(g, {{"x", x}}), R"(3 nodes, f64
x = leaf                         (3)
%1 = multiply_number(x)          (3)
%2 = multiply(constant (3), %1)  (3)  saves inputs
)");
}

TEST_F(GraphView, ATensorWithoutAGraphIsOneNode) {
  const Tensor x = ones({2, 3});
  EXPECT_EQ(to_text(x), "1 node, f32\n%0 = constant  (2, 3)\n");
  EXPECT_EQ(to_dot(x), R"dot(digraph heed {
  graph [ordering=in, label=f32];
  node [shape=box];
  n0 [label="constant\n(2, 3)", shape=plain];
}
)dot");
  EXPECT_EQ(to_text(ones({}).requires_grad_()), "1 node, f32\n%0 = leaf  ()\n");
}

TEST_F(GraphView, AnUndefinedTensorIsRefused) {
  EXPECT_EQ(error_of<GraphError>([] { to_text({}); }),
            "to_text: the tensor is undefined, it has no graph");
  EXPECT_EQ(error_of<GraphError>([] { to_dot({}); }),
            "to_dot: the tensor is undefined, it has no graph");
}

TEST_F(GraphView, TheSameProgramGivesTheSameText) {
  const auto draw = [] {
    const Tensor x = leaf({1, 2, 3});
    const Tensor y = sum(polynomial(tanh(x)));
    const Tensor g = grad(y, x, {.create_graph = true});
    return to_text(g) + to_dot(g);
  };
  const std::string first = draw();
  const std::vector<Tensor> others(10, leaf({1}) + 1);  // other addresses and numbers from here on
  EXPECT_EQ(draw(), first);
}

TEST_F(GraphView, ALongChainNeedsNoStack) {
  cases::on_small_stack([] {
    constexpr int kLength = 200'000;
    const Tensor x = leaf({1});
    Tensor y = x;
    for (int i = 0; i < kLength; ++i) y = y + 1;
    const std::string text = to_text(y), dot = to_dot(y);
    EXPECT_TRUE(contains(text, "200001 nodes, f64\n"));
    EXPECT_TRUE(contains(text, "\n%200000 = add_number(%199999)  (1)\n"));
    EXPECT_TRUE(contains(dot, "  n199999 -> n200000;\n}\n"));
  });
}

}  // namespace
}  // namespace heed
