// Ops against what PyTorch says of them: values, gradients and second gradients, see ops.py.
#include <functional>
#include <map>
#include <set>
#include <sstream>

#include "golden.h"

namespace heed::golden {
namespace {

/// What a causal mask with these times hides, with the keys in reverse order.
Mask earlier(std::int64_t queries, std::int64_t keys) {
  std::vector<bool> hidden;
  for (std::int64_t i = 0; i < queries; ++i)
    for (std::int64_t j = 0; j < keys; ++j) hidden.push_back(keys - 1 - j > i + keys - queries);
  return mask(hidden, {queries, keys});
}

/// One target for each row of x; the third of them is ignored.
Tokens targets(const Tensor& x) {
  const Shape rows(std::vector<std::int64_t>(x.shape().begin(), x.shape().end() - 1));
  std::vector<std::int64_t> values = whole(rows.numel(), x.dim(-1));
  if (values.size() > 2) values[2] = kIgnore;
  return tokens(values, rows);
}

Tokens every_third(std::int64_t time) {
  std::vector<std::int64_t> values;
  for (std::int64_t t = 0; t < time; ++t) values.push_back(3 * t);
  return tokens(values, {time});
}

/// A call with one, two or three inputs.
struct Call {
  Call(Tensor (*f)(const Tensor&)) : run([f](const List& x) { return f(x[0]); }) {}
  Call(Tensor (*f)(const Tensor&, const Tensor&))
      : run([f](const List& x) { return f(x[0], x[1]); }) {}
  Call(Tensor (*f)(const Tensor&, const Tensor&, const Tensor&))
      : run([f](const List& x) { return f(x[0], x[1], x[2]); }) {}

  std::function<Tensor(const List&)> run;
};

using In = const Tensor&;

const std::map<std::string, Call> kOps = {
    {"add", +[](In a, In b) { return a + b; }},
    {"subtract", +[](In a, In b) { return a - b; }},
    {"multiply", +[](In a, In b) { return a * b; }},
    {"divide", +[](In a, In b) { return a / b; }},
    {"add_number", +[](In x) { return 1.5 + x; }},
    {"divide_number", +[](In x) { return 2 / x; }},
    {"neg", +[](In x) { return neg(x); }},
    {"exp", +[](In x) { return exp(x); }},
    {"log", +[](In x) { return log(x); }},
    {"log1p", +[](In x) { return log1p(x); }},
    {"sqrt", +[](In x) { return sqrt(x); }},
    {"rsqrt", +[](In x) { return rsqrt(x); }},
    {"square", +[](In x) { return square(x); }},
    {"cube", +[](In x) { return pow(x, 3); }},
    {"pow_of_fraction", +[](In x) { return pow(x, -1.5); }},
    {"pow", +[](In x, In y) { return pow(x, y); }},
    {"abs", +[](In x) { return abs(x); }},
    {"sin", +[](In x) { return sin(x); }},
    {"cos", +[](In x) { return cos(x); }},
    {"tanh", +[](In x) { return tanh(x); }},
    {"erf", +[](In x) { return erf(x); }},
    {"sigmoid", +[](In x) { return sigmoid(x); }},
    {"relu", +[](In x) { return relu(x); }},
    {"leaky_relu", +[](In x) { return leaky_relu(x, 0.1); }},
    {"elu", +[](In x) { return elu(x, 1.5); }},
    {"gelu_erf", +[](In x) { return gelu(x); }},
    {"gelu_tanh", +[](In x) { return gelu(x, Gelu::tanh); }},
    {"silu", +[](In x) { return silu(x); }},
    {"softplus", +[](In x) { return softplus(x); }},
    {"maximum", +[](In a, In b) { return maximum(a, b); }},
    {"minimum", +[](In a, In b) { return minimum(a, b); }},
    {"clamp", +[](In x) { return clamp(x, -1, 1.5); }},
    {"where_less", +[](In a, In b) { return where(a < b, a, 3 * b); }},
    {"masked_fill", +[](In x) { return masked_fill(x, x > 1, 7); }},
    {"sum", +[](In x) { return sum(x, Axes{0, 2}); }},
    {"sum_of_all", +[](In x) { return sum(x); }},
    {"mean", +[](In x) { return mean(x, Axes{0, 2}); }},
    {"mean_of_all", +[](In x) { return mean(x); }},
    {"var", +[](In x) { return var(x, Axes{0, 2}); }},
    {"var_uncorrected", +[](In x) { return var(x, -1, true, 0); }},
    {"amax", +[](In x) { return amax(x, 1); }},
    {"amin", +[](In x) { return amin(x, Axes{0, -1}, true); }},
    {"max", +[](In x) { return max(x, 1).values; }},
    {"logsumexp", +[](In x) { return logsumexp(x, Axes{0, 2}); }},
    {"norm", +[](In x) { return norm(x, -1); }},
    {"norm_of_all", +[](In x) { return norm(x); }},
    {"cumsum", +[](In x) { return cumsum(x, 0); }},
    {"sum_to", +[](In x) { return sum_to(x, {2, 1}); }},
    {"reshape", +[](In x) { return reshape(x, {2, -1}); }},
    {"permute", +[](In x) { return permute(x, {2, 0, 1}); }},
    {"transpose", +[](In x) { return transpose(x, 0, -1); }},
    {"squeeze", +[](In x) { return squeeze(x, 1); }},
    {"unsqueeze", +[](In x) { return unsqueeze(x, -1); }},
    {"broadcast_to", +[](In x) { return broadcast_to(x, {2, 2, 3}); }},
    {"slice", +[](In x) { return slice(x, 1, 1, 6, 2); }},
    {"slice_from_the_end", +[](In x) { return slice(x, 0, -3, -1); }},
    {"concat",
     +[](In a, In b) {
       return concat({a, b, a}, 1);
     }},
    {"stack",
     +[](In a, In b) {
       return stack({a, b}, 1);
     }},
    {"split", +[](In x) { return split(x, {2, 1, 2}, 1)[2] * split(x, 2, 1)[0]; }},
    {"flip", +[](In x) { return flip(x, 0); }},
    {"split_heads", +[](In x) { return split_heads(x, 2); }},
    {"merge_heads", +[](In x) { return merge_heads(x); }},
    {"matmul", +[](In a, In b) { return matmul(a, b); }},
    {"matmul_transposed_a", +[](In a, In b) { return matmul(a, b, {.transpose_a = true}); }},
    {"matmul_transposed_b", +[](In a, In b) { return matmul(a, b, {.transpose_b = true}); }},
    {"matmul_transposed", +[](In a, In b) { return matmul(a, b, {true, true}); }},
    {"linear", +[](In x, In w, In b) { return linear(x, w, b); }},
    {"linear_without_bias", +[](In x, In w) { return linear(x, w); }},
    {"softmax", +[](In x) { return softmax(x); }},
    {"softmax_of_columns", +[](In x) { return softmax(x, 1); }},
    {"softmax_hidden", +[](In x) { return softmax(masked_fill(x, x > 1, -infinity)); }},
    {"log_softmax", +[](In x) { return log_softmax(x); }},
    {"log_softmax_of_columns", +[](In x) { return log_softmax(x, 0); }},
    {"layer_norm", +[](In x, In w, In b) { return layer_norm(x, w, b); }},
    {"layer_norm_alone", +[](In x) { return layer_norm(x, {}, {}, 0.1); }},
    {"rms_norm", +[](In x, In w) { return rms_norm(x, w); }},
    {"rms_norm_alone", +[](In x) { return rms_norm(x, {}, 0.1); }},
    {"embedding", +[](In table) { return embedding(table, ids({2, 3}, table.dim(0))); }},
    {"gather", +[](In x) { return gather(x, 1, ids({x.dim(0), 4}, x.dim(1))); }},
    {"one_hot",
     +[](In x) {
       const Tensor rows = one_hot(ids({3}, x.dim(-1)), x.dim(-1), f64);
       return matmul(x, rows, {.transpose_b = true});
     }},
    {"cross_entropy", +[](In x) { return cross_entropy(x, targets(x)); }},
    {"cross_entropy_sum",
     +[](In x) { return cross_entropy(x, targets(x), {.reduction = Reduction::sum}); }},
    {"cross_entropy_smoothed",
     +[](In x) { return cross_entropy(x, targets(x), {.label_smoothing = 0.1}); }},
    {"cross_entropy_none",
     +[](In x) {
       return cross_entropy(x, targets(x), {.label_smoothing = 0.2, .reduction = Reduction::none});
     }},
    {"nll_loss", +[](In x) { return nll_loss(x, targets(x)); }},
    {"mse_loss", +[](In x, In t) { return mse_loss(x, t); }},
    {"l1_loss", +[](In x, In t) { return l1_loss(x, t); }},
    {"huber_loss", +[](In x, In t) { return huber_loss(x, t, 0.75); }},
    {"binary_cross_entropy_with_logits",
     +[](In x, In t) { return binary_cross_entropy_with_logits(x, t); }},
    {"kl_div", +[](In p, In t) { return kl_div(p, t); }},
    {"rope", +[](In x) { return rope(x, every_third(x.dim(-2))); }},
    {"attention_weights", +[](In q, In k) { return attention_weights(q, k); }},
    {"attention", +[](In q, In k, In v) { return scaled_dot_product_attention(q, k, v); }},
    {"attention_causal",
     +[](In q, In k, In v) { return scaled_dot_product_attention(q, k, v, {.causal = true}); }},
    {"attention_hidden",
     +[](In q, In k, In v) {
       const Mask hidden = earlier(q.dim(2), k.dim(2));
       return scaled_dot_product_attention(q, k, v, {.hidden = hidden, .scale = 1.0});
     }},
    {"attention_of_channels",
     +[](In q, In k, In v) {
       return attention(q, k, v, {.heads = 2, .kv_heads = 1, .causal = true, .scale = 0.3});
     }},
};

class GoldenOps : public testing::TestWithParam<json> {};

TEST_P(GoldenOps, AreThoseOfPyTorch) {
  const json& entry = GetParam();
  const auto& op = kOps.at(entry["name"]).run;
  List x;
  for (const json& input : entry["inputs"])
    x.push_back(wave(shape_of(input["shape"]), 1 + 2 * static_cast<double>(x.size()),
                     input.value("low", -2.0), input.value("high", 2.0))
                    .requires_grad_());
  const Tensor y = op(x), seed = wave(y.shape(), 0.5);
  ASSERT_EQ(y.shape(), shape_of(entry["shape"]));
  expect_values(y, entry["output"]);

  const List first = grad(y, x, {.create_graph = true, .seed = seed});
  const List kernel = grad(y, x, {.retain_graph = true, .seed = seed});
  Tensor along = zeros({}, f64);
  for (std::size_t i = 0; i < x.size(); ++i) {
    SCOPED_TRACE("gradient of input " + std::to_string(i));
    expect_values(first[i], entry["gradients"][i]);
    expect_values(kernel[i], entry["gradients"][i]);
    along = along + sum(first[i] * wave(x[i].shape(), 7 + static_cast<double>(i)));
  }
  const List second = grad(along, x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    SCOPED_TRACE("second gradient of input " + std::to_string(i));
    expect_values(second[i], entry["second"][i]);
  }
}

/// As "matmul_3x1x2x4_2x4x3".
std::string label(const testing::TestParamInfo<json>& test) {
  std::ostringstream result;
  result << test.param["name"].get<std::string>();
  for (const json& input : test.param["inputs"]) {
    const Shape shape = shape_of(input["shape"]);
    if (shape.ndim() == 0) result << "_scalar";
    char before = '_';
    for (const std::int64_t length : shape) result << std::exchange(before, 'x') << length;
  }
  return result.str();
}

INSTANTIATE_TEST_SUITE_P(Ops, GoldenOps, testing::ValuesIn(entries("ops.json")), label);

TEST(Golden, EveryCallHasItsValues) {
  std::set<std::string> names;
  for (const json& entry : entries("ops.json")) names.insert(entry["name"]);
  for (const auto& op : kOps) EXPECT_TRUE(names.contains(op.first)) << op.first;
}

}  // namespace
}  // namespace heed::golden
