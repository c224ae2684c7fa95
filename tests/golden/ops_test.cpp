// Ops against what PyTorch says of them: values, gradients and second gradients, see ops.py.
#include <gtest/gtest.h>
#include <heed/autograd/autograd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace heed {
namespace {

using List = std::vector<Tensor>;
using nlohmann::json;

const Tokens kIds = tokens({2, 0, 3, 3, 3, 1}, {2, 3});
const Tokens kTargets = tokens({1, 4, -100, 0}, {4});
const Mask kHidden = mask({false, true, false, false, true}, {5});

const std::map<std::string, std::function<Tensor(const List&)>> kOps = {
    {"exp", [](const List& x) { return exp(x[0]); }},
    {"log", [](const List& x) { return log(x[0]); }},
    {"log1p", [](const List& x) { return log1p(x[0]); }},
    {"sqrt", [](const List& x) { return sqrt(x[0]); }},
    {"rsqrt", [](const List& x) { return rsqrt(x[0]); }},
    {"pow_number", [](const List& x) { return pow(x[0], 3); }},
    {"pow", [](const List& x) { return pow(x[0], x[1]); }},
    {"divide", [](const List& x) { return x[0] / x[1]; }},
    {"maximum", [](const List& x) { return maximum(x[0], x[1]); }},
    {"tanh", [](const List& x) { return tanh(x[0]); }},
    {"sigmoid", [](const List& x) { return sigmoid(x[0]); }},
    {"erf", [](const List& x) { return erf(x[0]); }},
    {"leaky_relu", [](const List& x) { return leaky_relu(x[0], 0.1); }},
    {"elu", [](const List& x) { return elu(x[0], 1.5); }},
    {"gelu_erf", [](const List& x) { return gelu(x[0]); }},
    {"gelu_tanh", [](const List& x) { return gelu(x[0], Gelu::tanh); }},
    {"silu", [](const List& x) { return silu(x[0]); }},
    {"softplus", [](const List& x) { return softplus(x[0]); }},
    {"mean",
     [](const List& x) {
       return mean(x[0], {0, 2});
     }},
    {"var",
     [](const List& x) {
       return var(x[0], {0, 2});
     }},
    {"var_of_all", [](const List& x) { return var(x[0], {}, false, 0); }},
    {"amax", [](const List& x) { return amax(x[0], 1); }},
    {"logsumexp",
     [](const List& x) {
       return logsumexp(x[0], {0, 2});
     }},
    {"norm", [](const List& x) { return norm(x[0], -1); }},
    {"cumsum", [](const List& x) { return cumsum(x[0], 0); }},
    {"softmax", [](const List& x) { return softmax(x[0], 1); }},
    {"log_softmax", [](const List& x) { return log_softmax(x[0]); }},
    {"matmul", [](const List& x) { return matmul(x[0], x[1]); }},
    {"linear", [](const List& x) { return linear(x[0], x[1], x[2]); }},
    {"layer_norm", [](const List& x) { return layer_norm(x[0], x[1], x[2]); }},
    {"embedding", [](const List& x) { return embedding(x[0], kIds); }},
    {"gather", [](const List& x) { return gather(x[0], 1, kIds); }},
    {"cross_entropy", [](const List& x) { return cross_entropy(x[0], kTargets); }},
    {"cross_entropy_smoothed",
     [](const List& x) { return cross_entropy(x[0], kTargets, {.label_smoothing = 0.1}); }},
    {"cross_entropy_none",
     [](const List& x) { return cross_entropy(x[0], kTargets, {.reduction = Reduction::none}); }},
    {"nll_loss", [](const List& x) { return nll_loss(x[0], kTargets); }},
    {"mse_loss", [](const List& x) { return mse_loss(x[0], x[1]); }},
    {"l1_loss", [](const List& x) { return l1_loss(x[0], x[1]); }},
    {"huber_loss", [](const List& x) { return huber_loss(x[0], x[1], 0.75); }},
    {"binary_cross_entropy_with_logits",
     [](const List& x) { return binary_cross_entropy_with_logits(x[0], x[1]); }},
    {"kl_div", [](const List& x) { return kl_div(x[0], x[1]); }},
    {"attention", [](const List& x) { return scaled_dot_product_attention(x[0], x[1], x[2]); }},
    {"attention_causal",
     [](const List& x) {
       return scaled_dot_product_attention(x[0], x[1], x[2], {.causal = true});
     }},
    {"attention_hidden",
     [](const List& x) {
       return scaled_dot_product_attention(x[0], x[1], x[2], {.hidden = kHidden, .scale = 1.0});
     }},
};

/// The entries of the file by name.
const std::map<std::string, json>& golden() {
  static const auto entries = [] {
    std::ifstream file(HEED_SOURCE_DIR "/tests/golden/ops.json");
    std::map<std::string, json> result;
    for (const json& entry : json::parse(file)) result[entry["name"]] = entry;
    return result;
  }();
  return entries;
}

Tensor read(const json& value) {
  return tensor(value["values"].get<std::vector<double>>(),
                value["shape"].get<std::vector<std::int64_t>>(), f64);
}

List read_list(const json& values) {
  List result;
  for (const json& value : values) result.push_back(read(value));
  return result;
}

void expect_same(const Tensor& found, const Tensor& expected) {
  ASSERT_EQ(found.shape(), expected.shape());
  const std::vector<double> a = found.to_vector(), b = expected.to_vector();
  for (std::size_t i = 0; i < a.size(); ++i)
    EXPECT_NEAR(a[i], b[i], 1e-11 * std::max(1., std::abs(b[i]))) << "element " << i;
}

class GoldenOps : public testing::TestWithParam<std::string> {};

TEST_P(GoldenOps, AreThoseOfPyTorch) {
  const json& entry = golden().at(GetParam());
  const auto& op = kOps.at(GetParam());
  List x = read_list(entry["inputs"]);
  for (Tensor& input : x) input.requires_grad_();
  const Tensor y = op(x), seed = read(entry["seed"]);
  expect_same(y, read(entry["output"]));

  const List first = grad(y, x, {.create_graph = true, .seed = seed});
  const List kernel = grad(y, x, {.retain_graph = true, .seed = seed});
  const List expected = read_list(entry["gradients"]), second = read_list(entry["second"]);
  const List directions = read_list(entry["directions"]);
  Tensor along = zeros({}, f64);
  for (std::size_t i = 0; i < x.size(); ++i) {
    SCOPED_TRACE("input " + std::to_string(i));
    expect_same(first[i], expected[i]);
    expect_same(kernel[i], expected[i]);
    along = along + sum(first[i] * directions[i]);
  }
  const List found = grad(along, x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    SCOPED_TRACE("second gradient of input " + std::to_string(i));
    expect_same(found[i], second[i]);
  }
}

std::vector<std::string> names() {
  std::vector<std::string> result;
  for (const auto& entry : golden()) result.push_back(entry.first);
  return result;
}

INSTANTIATE_TEST_SUITE_P(Ops, GoldenOps, testing::ValuesIn(names()),
                         [](const auto& test) { return test.param; });

TEST(Golden, EveryCallHasItsValues) {
  for (const auto& op : kOps) EXPECT_TRUE(golden().contains(op.first)) << op.first;
}

}  // namespace
}  // namespace heed
