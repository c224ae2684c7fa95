// Weights to PyTorch and back: names and axes, and the files.
#include <gmock/gmock.h>
#include <heed/autograd/autograd.h>
#include <heed/layers/layers.h>
#include <heed/train/train.h>

#include "exchange_support.h"

namespace heed {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Transformer small_model() {
  Rng rng(5);
  return Transformer({.vocabulary = 5, .context = 4, .layers = 1, .heads = 2, .d_model = 6}, rng);
}

std::vector<std::string> names_of(const Parameters& all) {
  std::vector<std::string> names;
  for (const NamedTensor& x : all) names.push_back(x.name);
  return names;
}

TEST(ToPyTorch, HasItsNamesAndAxes) {
  const Transformer model = small_model();
  const Parameters there = to_pytorch(parameters(model));
  EXPECT_THAT(names_of(there),
              ElementsAre("token_embedding.weight", "position_embedding.weight",
                          "layers.0.norm1.weight", "layers.0.norm1.bias",
                          "layers.0.self_attn.in_proj_weight", "layers.0.self_attn.in_proj_bias",
                          "layers.0.self_attn.out_proj.weight", "layers.0.self_attn.out_proj.bias",
                          "layers.0.norm2.weight", "layers.0.norm2.bias", "layers.0.linear1.weight",
                          "layers.0.linear1.bias", "layers.0.linear2.weight",
                          "layers.0.linear2.bias", "norm.weight", "norm.bias", "head.weight"));
  EXPECT_EQ(at(there, "token_embedding.weight").shape(), (Shape{5, 6}));
  EXPECT_EQ(at(there, "layers.0.linear1.weight").shape(), (Shape{24, 6}));
  EXPECT_EQ(at(there, "layers.0.linear1.weight").to_vector(),
            transpose(at(parameters(model), "blocks.0.mlp.up.weight")).to_vector());
  EXPECT_EQ(at(there, "head.weight").shape(), (Shape{5, 6}));
  const Tensor joined = at(there, "layers.0.self_attn.in_proj_weight");
  EXPECT_EQ(joined.shape(), (Shape{18, 6}));
  for (const auto& [start, name] : {std::pair{0, "w_q"}, {6, "w_k"}, {12, "w_v"}})
    EXPECT_EQ(
        slice(joined, 0, start, start + 6).to_vector(),
        transpose(at(parameters(model), std::string("blocks.0.attention.") + name + ".weight"))
            .to_vector());
  EXPECT_EQ(slice(at(there, "layers.0.self_attn.in_proj_bias"), 0, 6, 12).to_vector(),
            std::vector<double>(6, 0));
}

TEST(FromPyTorch, IsTheWayBack) {
  const Transformer from = small_model();
  for (const NamedTensor& x : parameters(from))
    for (float& value : Tensor(x.value).mutate<float>()) value += .25F;
  const Transformer to = small_model();
  from_pytorch(to_pytorch(parameters(from)), parameters(to), true, "f");
  for (std::size_t i = 0; i < parameters(to).size(); ++i)
    EXPECT_EQ(parameters(to)[i].value.to_vector(), parameters(from)[i].value.to_vector());
}

TEST(FromPyTorch, DropsABiasOfTheKeysThatSoftmaxDoesNotSee) {
  const Transformer model = small_model();
  Parameters there = to_pytorch(parameters(model));
  for (NamedTensor& x : there)
    if (x.name.ends_with("in_proj_bias")) x.value = full(x.value.shape(), 3);
  const auto refused =
      message_of<FileError>([&] { from_pytorch(there, parameters(model), true, "f"); });
  EXPECT_THAT(refused, HasSubstr("layers.0.self_attn.in_proj_bias has a bias of the keys"));
  EXPECT_EQ(at(parameters(model), "blocks.0.attention.w_q.bias").to_vector(),
            std::vector<double>(6, 0));
  from_pytorch(there, parameters(model), false, "f");
  EXPECT_EQ(at(parameters(model), "blocks.0.attention.w_v.bias").to_vector(),
            std::vector<double>(6, 3));
}

TEST(FromPyTorch, SaysWhatDoesNotFit) {
  const Transformer model = small_model();
  const auto refused = [&](auto&& change) {
    Parameters there = to_pytorch(parameters(model));
    change(there);
    return message_of<FileError>([&] { from_pytorch(there, parameters(model), false, "f"); });
  };
  EXPECT_THAT(refused([](Parameters& all) { all.erase(all.begin()); }),
              HasSubstr("f does not fit the model; missing: token_embedding.weight"));
  EXPECT_THAT(refused([](Parameters& all) {
                all.push_back({"extra", zeros({1})});
              }),
              HasSubstr("unexpected: extra"));
  EXPECT_THAT(refused([](Parameters& all) {
                all.back().value = zeros({6, 5});
              }),
              HasSubstr("head.weight (f32 (5, 6), not f32 (6, 5))"));
  EXPECT_THAT(refused([](Parameters& all) {
                for (NamedTensor& x : all)
                  if (x.name.ends_with("in_proj_weight")) x.value = zeros({17, 6});
              }),
              HasSubstr("in_proj_weight of shape (17, 6) should have 18 rows"));
}

TEST(Exchange, AnExportedRunComesBackToTheBit) {
  const Exported e;
  const Outcome back = run_heed({"import", "there/model.safetensors", "--out", "back"}, e.start);
  ASSERT_EQ(back.code, 0) << back.err;
  EXPECT_EQ(last_checkpoint(only_run(e.folder / "back")),
            last_checkpoint(only_run(e.folder / "runs")));
  EXPECT_EQ(e.evaluated("back"), e.evaluated("runs"));

  // A program that knows nothing of heed keeps the tensors alone.
  write_safetensors(e.folder / "bare.safetensors",
                    read_safetensors(e.folder / "there/model.safetensors").tensors);
  const Outcome bare = run_heed({"import", "bare.safetensors"}, e.start);
  EXPECT_EQ(bare.code, 3);
  EXPECT_THAT(bare.err, HasSubstr("it has no heed.config"));
  EXPECT_EQ(
      run_heed({"import", "bare.safetensors", "--like", "runs", "--out", "bare"}, e.start).code, 0);
  EXPECT_EQ(e.evaluated("bare"), e.evaluated("runs"));
}

TEST(Exchange, RefusesWhatItCannotDo) {
  const Exported e;
  const auto refused = [&](const std::vector<std::string>& words, int code,
                           const std::string& reason) {
    const Outcome found = run_heed(words, e.start);
    EXPECT_EQ(found.code, code);
    EXPECT_THAT(lines_of(found.err), ElementsAre(HasSubstr(reason)));
  };
  refused({"export", "runs", "--for", "onnx"}, 2, "--for = onnx: it must be pytorch");
  refused({"export", "runs", "--out", "there"}, 1, "there already");
  refused({"export", "runs", "--out", "/proc/none"}, 1, "cannot make the folder /proc/none");
  refused({"export", "none"}, 3, "no run at none");
  refused({"import", "none"}, 3, "none");
  refused({"import", "there/probe.safetensors"}, 3, "has no heed.config");
  refused({"import", "there/probe.safetensors", "--like", "runs"}, 3, "does not fit the model");
  refused({"import", "there/model.safetensors", "--out", "/proc/none"}, 1, "/proc/none");
}

}  // namespace
}  // namespace heed
