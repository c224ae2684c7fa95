// Ops that users write: through apply, with the rights and duties of our own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heed/autograd/autograd.h>

#include <cmath>

#include "support.h"

namespace heed {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using List = std::vector<Tensor>;

// ---- the sample of the design

// y = c tanh(x / c): soft limit on logits.       Gemma 2, arXiv:2408.00118, section 2
struct Softcap {
  static constexpr std::string_view name = "softcap";
  static constexpr Saves saves = Saves::output;
  double c;

  Tensor forward(const Tensor& x) const {
    return map(x, [c = c](auto v) { return decltype(v)(c * std::tanh(v / c)); });
  }

  // dy/dx = 1 - (y/c)^2
  Grads backward(const Context& ctx, const Tensor& g) const {
    return {g * (1.0 - square(ctx.output() / c))};
  }
};
Tensor softcap(const Tensor& x, double c) { return heed::apply(Softcap{c}, x); }

TEST(UserOp, SoftcapIsRightToSecondOrder) {
  const Tensor x = tensor({-3, -.5, 0, 1, 4}, {5}, f64);
  EXPECT_NEAR(softcap(x, 2).to_vector()[4], 2 * std::tanh(2.), 1e-15);
  EXPECT_TRUE(gradcheck([](const List& in) { return softcap(in[0], 2); }, {x}, {.order = 2}));
}

// ---- several inputs

// y = Σ aᵢ² of a list of any length.
struct SumOfSquares {
  static constexpr std::string_view name = "sum_of_squares";
  static constexpr Saves saves = Saves::inputs;

  Tensor forward(std::span<const Tensor> xs) const {
    Tensor y = zeros(xs[0].shape(), xs[0].dtype());
    for (const Tensor& x : xs) y = y + x * x;
    return y;
  }
  Grads backward(const Context& ctx, const Tensor& g) const {
    Grads grads;
    for (std::size_t i = 0; i < ctx.inputs(); ++i)
      grads.push_back(ctx.needs(i) ? 2 * g * ctx.input(i) : Tensor());
    return grads;
  }
};

TEST(UserOp, TakesAListOfInputs) {
  const auto f = [](const List& in) {
    return heed::apply(SumOfSquares{}, std::span<const Tensor>(in));
  };
  const List in = {tensor({1, 2}, {2}, f64), tensor({3, 4}, {2}, f64), tensor({5, 6}, {2}, f64)};
  EXPECT_THAT(f(in).to_vector(), ElementsAre(35, 56));
  EXPECT_TRUE(gradcheck(f, in, {.order = 2}));
}

// y = x + b, or x alone; the op is told what it has and what is wanted.
struct AddOptional {
  static constexpr std::string_view name = "add_optional";
  static constexpr Saves saves = Saves::inputs;
  std::vector<bool>* seen;

  Tensor forward(const Tensor& x, const Tensor& b) const { return b.defined() ? x + b : x; }
  Grads backward(const Context& ctx, const Tensor& g) const {
    *seen = {ctx.needs(0), ctx.needs(1), ctx.input(1).defined()};
    EXPECT_EQ(ctx.shape(1), ctx.input(1).defined() ? ctx.shape(0) : Shape{});
    return {g, ctx.needs(1) ? g : Tensor()};
  }
};

TEST(UserOp, IsToldWhatItHasAndWhatIsWanted) {
  std::vector<bool> seen;
  const Tensor x = leaf({1, 2}), b = leaf({3, 4}), constant = ones({2}, f64);
  const auto differentiate = [&](const Tensor& second) {
    return grad(sum(heed::apply(AddOptional{&seen}, x, second)), x).to_vector();
  };
  EXPECT_THAT(differentiate(b), ElementsAre(1, 1));
  EXPECT_THAT(seen, ElementsAre(true, true, true));
  EXPECT_THAT(differentiate(constant), ElementsAre(1, 1));
  EXPECT_THAT(seen, ElementsAre(true, false, true));
  EXPECT_THAT(differentiate(Tensor()), ElementsAre(1, 1));
  EXPECT_THAT(seen, ElementsAre(true, false, false));
}

// ---- what an op may see

// y = x, whose backward asks for what was not saved.
struct Greedy {
  static constexpr std::string_view name = "greedy";
  static constexpr Saves saves = Saves::none;
  bool output;

  Tensor forward(const Tensor& x) const { return x.clone(); }
  Grads backward(const Context& ctx, const Tensor& g) const {
    return {g * (output ? ctx.output() : ctx.input(0))};
  }
};

TEST(UserOp, SeesOnlyWhatItSaves) {
  const Tensor x = leaf({1});
  EXPECT_THAT(error_of<GraphError>([&] { grad(heed::apply(Greedy{false}, x), x); }),
              AllOf(HasSubstr("greedy"), HasSubstr("input 0"), HasSubstr("does not save")));
  EXPECT_THAT(error_of<GraphError>([&] { grad(heed::apply(Greedy{true}, x), x); }),
              AllOf(HasSubstr("greedy"), HasSubstr("output")));
}

// An op that returns its input: the same values, another place in the graph.
struct Identity {
  static constexpr std::string_view name = "identity";
  static constexpr Saves saves = Saves::output;
  Tensor forward(const Tensor& x) const { return x; }
  Grads backward(const Context&, const Tensor& g) const { return {g * 3}; }
};

struct Nothing {
  static constexpr std::string_view name = "nothing";
  static constexpr Saves saves = Saves::none;
  Tensor forward(const Tensor&) const { return {}; }
  Tensor forward(std::span<const Tensor>) const { return {}; }
  Grads backward(const Context&, const Tensor& g) const { return {g}; }
};

TEST(UserOp, MustReturnATensor) {
  const Tensor x = ones({2}), w = leaf({1, 2});
  const std::string refusal = "nothing: forward gives an undefined tensor";
  EXPECT_EQ(error_of<GraphError>([&] { apply(Nothing{}, x); }), refusal);
  EXPECT_EQ(error_of<GraphError>([&] { apply(Nothing{}, w); }), refusal);
  EXPECT_EQ(error_of<GraphError>([&] { apply(Nothing{}, std::span(&w, 1)); }), refusal);
}

TEST(UserOp, MayReturnItsInput) {
  const Tensor x = leaf({1, 2});
  const Tensor y = heed::apply(Identity{}, x);
  EXPECT_NE(y.node(), x.node());
  EXPECT_THAT(grad(sum(y), x).to_vector(), ElementsAre(3, 3));
}

TEST(UserOp, OutputThatWasTheInputIsAHandleOfItsOwn) {
  const Tensor constant = ones({2}, f64);
  Tensor y = heed::apply(Identity{}, constant);
  y.requires_grad_();
  EXPECT_FALSE(constant.requires_grad());
}

// ---- wrong backwards

enum class Wrong { none, shape, type, count, thrown };

// y = x, with a backward that is wrong in the way asked for.
struct Broken {
  static constexpr std::string_view name = "broken";
  static constexpr Saves saves = Saves::none;
  const Wrong* how;

  Tensor forward(const Tensor& x) const { return x.clone(); }
  Grads backward(const Context&, const Tensor& g) const {
    switch (*how) {
      case Wrong::shape:
        return {reshape(g, {1, 2})};
      case Wrong::type:
        return {g.to(f32)};
      case Wrong::count:
        return {g, g};
      case Wrong::thrown:
        throw NonFinite("broken: thrown on purpose");
      case Wrong::none:
        break;
    }
    return {g};
  }
};

TEST(UserOp, GradientThatDoesNotFitIsRefusedByName) {
  Wrong how = Wrong::shape;
  const Tensor x = leaf({1, 2});
  const Tensor y = sum(heed::apply(Broken{&how}, x));
  const auto differentiate = [&] { grad(y, x, {.retain_graph = true}); };
  EXPECT_THAT(error_of<ShapeError>(differentiate),
              AllOf(HasSubstr("broken"), HasSubstr("(1, 2)"), HasSubstr("(2)")));
  how = Wrong::type;
  EXPECT_THAT(error_of<DTypeError>(differentiate),
              AllOf(HasSubstr("broken"), HasSubstr("f32"), HasSubstr("f64")));
  how = Wrong::count;
  EXPECT_THAT(error_of<GraphError>(differentiate),
              AllOf(HasSubstr("broken"), HasSubstr("2 gradients"), HasSubstr("1 inputs")));
}

TEST(UserOp, BackwardThatThrowsLeavesEverythingAsItWas) {
  for (const bool create_graph : {false, true}) {
    Wrong how = Wrong::thrown;
    const Tensor a = leaf({1, 2}), b = leaf({3, 4});
    backward(sum(b));
    const std::int64_t nodes = live_nodes(), bytes = live_bytes();
    {
      // b gets its part of the gradient before the sweep meets the broken op.
      const Tensor early = heed::apply(Broken{&how}, a * 2);
      const Tensor loss = sum(early * exp(b));
      const auto differentiate = [&] {
        if (create_graph) return grad(loss, std::vector{a, b}, {.create_graph = true});
        backward(loss, {.retain_graph = true});
        return List{a.grad(), b.grad()};
      };
      EXPECT_THAT(error_of<NonFinite>(differentiate), HasSubstr("on purpose"));
      EXPECT_TRUE(grad_enabled());
      EXPECT_FALSE(a.grad().defined());
      EXPECT_THAT(b.grad().to_vector(), ElementsAre(1, 1));

      how = Wrong::none;
      const List grads = differentiate();
      const double before = create_graph ? 0 : 1;
      EXPECT_THAT(grads[0].to_vector(), ElementsAre(2 * std::exp(3), 2 * std::exp(4)));
      EXPECT_THAT(grads[1].to_vector(),
                  ElementsAre(before + 2 * std::exp(3), before + 4 * std::exp(4)));
    }
    if (!create_graph) Tensor(a).clear_grad();
    EXPECT_EQ(live_nodes(), nodes);
    EXPECT_EQ(live_bytes(), bytes);
  }
}

// ---- a backward that differentiates

// y = f(x), which keeps x only: the backward computes f again and differentiates that.
struct Recomputed {
  static constexpr std::string_view name = "recomputed";
  static constexpr Saves saves = Saves::inputs;
  Tensor (*f)(const Tensor&);

  Tensor forward(const Tensor& x) const { return f(x); }
  Grads backward(const Context& ctx, const Tensor& g) const {
    if (grad_enabled()) {  // on the graph itself, so that the gradient has one
      const Tensor x = ctx.input(0);
      return {grad(f(x), x, {.create_graph = true, .seed = g})};
    }
    const GradMode on(true);
    Tensor x = ctx.input(0).detach();
    x.requires_grad_();
    return {grad(f(x), x, {.seed = g})};
  }
};

Tensor wavy(const Tensor& x) { return sin(x * x) * x; }

TEST(UserOp, BackwardMaySweepItself) {
  const auto f = [](const List& in) {
    const Tensor h = in[0] * in[1];
    return heed::apply(Recomputed{wavy}, h) + heed::apply(Recomputed{wavy}, h + in[1]);
  };
  const List in = {tensor({.5, 1, -.7}, {3}, f64), tensor({1.1, .3, .9}, {3}, f64)};
  EXPECT_TRUE(gradcheck(f, in, {.order = 2}));
}

// y = x, whose gradient is multiplied by that of `other` to `root`.
struct Nosy {
  static constexpr std::string_view name = "nosy";
  static constexpr Saves saves = Saves::none;
  Tensor other, root;

  Tensor forward(const Tensor& x) const { return x.clone(); }
  Grads backward(const Context&, const Tensor& g) const {
    const Tensor inner =
        grad(other, root, {.retain_graph = true, .seed = ones(other.shape(), other.dtype())});
    return {g * inner};
  }
};

TEST(UserOp, NestedSweepOverNodesThatHoldAGradientDisturbsNothing) {
  const Tensor x = leaf({.5, 1});
  const Tensor h = x * 2;
  // When nosy's backward sweeps from exp(h) to x, h has got its part from the product and waits.
  const Tensor y = sum(heed::apply(Nosy{exp(h), x}, h) * h);
  const std::vector<double> found = grad(y, x, {.retain_graph = true}).to_vector();
  backward(y, {.retain_graph = true});
  for (std::size_t i = 0; i < 2; ++i) {
    const double v = h.to_vector()[i];
    EXPECT_NEAR(found[i], 2 * (v + v * 2 * std::exp(v)), 1e-12);
  }
  EXPECT_EQ(x.grad().to_vector(), found);
}

}  // namespace
}  // namespace heed
