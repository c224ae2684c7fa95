// Weights to PyTorch and back: names and axes, the files, and PyTorch itself where it is present.
#include <gmock/gmock.h>
#include <heed/autograd/autograd.h>
#include <heed/layers/layers.h>
#include <heed/train/train.h>

#include <cstdlib>
#include <filesystem>

#include "cli_support.h"
#include "process.h"
#include "support.h"

namespace heed {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

Transformer small_model() {
  Rng rng(5);
  return Transformer({.vocabulary = 5, .context = 4, .layers = 1, .heads = 2, .d_model = 6}, rng);
}

Tensor at(const Parameters& all, const std::string& name) {
  for (const NamedTensor& x : all)
    if (x.name == name) return x.value;
  ADD_FAILURE() << "no " << name;
  return {};
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

/// A folder with a run in `runs` and its export in `there`.
struct Exported {
  TemporaryFolder folder;
  Start start{.folder = folder.path()};

  explicit Exported(const std::vector<std::string>& more = {}) {
    EXPECT_EQ(run_heed(tiny(more), start).code, 0);
    const Outcome made = run_heed({"export", "runs", "--for", "pytorch", "--out", "there"}, start);
    EXPECT_EQ(made.code, 0) << made.err;
    EXPECT_THAT(made.out, HasSubstr("python3 there/model.py"));
  }
  std::string evaluated(const std::string& run) const {
    auto result = last_json(run_heed({"eval", run, "--json"}, start).out);
    result.erase("checkpoint");
    return result.dump();
  }
};

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

int python(const std::string& program, const std::filesystem::path& folder) {
  const std::string command =
      "cd '" + folder.string() + "' && /usr/bin/python3 " + program + " > said.txt 2>&1";
  return std::system(command.c_str());
}

/// PyTorch takes seconds to start, so all of it is asked of one process.
TEST(Exchange, PyTorchGivesTheSameLogitsAndSavesWhatCanBeImported) {
  const Exported e;
  write_file(e.folder / "ask.py", R"(
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, "there")
import model, torch
from torch import nn

assert model.check()
mine = model.load()

# The blocks are PyTorch's own.
layer = nn.TransformerEncoderLayer(8, 2, 32, dropout=0.0, activation="gelu", norm_first=True, batch_first=True)
blocks = nn.TransformerEncoder(layer, 2, norm=nn.LayerNorm(8), enable_nested_tensor=False)
state = {k: v for k, v in mine.state_dict().items() if k.startswith(("layers.", "norm."))}
blocks.load_state_dict(state)
blocks.eval()
probe = model.read("there/probe.safetensors")[0]
tokens = probe["tokens"].long()
time = tokens.shape[1]
with torch.no_grad():
    x = mine.token_embedding(tokens) + mine.position_embedding.weight[:time]
    found = mine.head(blocks(x, mask=torch.ones(time, time, dtype=torch.bool).triu(1)))
assert (found - probe["logits"]).abs().max() < 1e-5, (found - probe["logits"]).abs().max()

with torch.no_grad():
    mine.head.weight.mul_(2)
model.save(mine, "doubled.safetensors")
with torch.no_grad():
    mine.head.weight[0, 0] += 1e-3
    assert not torch.allclose(mine(tokens), 2 * probe["logits"], atol=1e-7)
)");
  if (python("-c 'import torch'", e.folder.path()) != 0) GTEST_SKIP() << "no PyTorch here";
  ASSERT_EQ(python("ask.py", e.folder.path()), 0) << read_file(e.folder / "said.txt");
  ASSERT_EQ(run_heed({"import", "doubled.safetensors", "--out", "back"}, e.start).code, 0);
  const auto head = [&](const std::string& folder) {
    const auto file = only_run(e.folder / folder) / "checkpoints/last.safetensors";
    return at(read_safetensors(file).tensors, "head.weight");
  };
  EXPECT_EQ(head("back").to_vector(), (2. * head("runs")).to_vector());
}

TEST(Exchange, PyTorchBuildsEveryKindOfModel) {
  const TemporaryFolder folder;
  const Start start{.folder = folder.path()};
  if (python("-c 'import torch'", folder.path()) != 0) GTEST_SKIP() << "no PyTorch here";
  const std::vector<std::vector<std::string>> kinds{
      {"--positions", "rotary", "--kv-heads", "1", "--norm-kind", "rms", "--activation", "swiglu"},
      {"--positions", "alibi", "--heads", "3", "--d-model", "12", "--norm", "post", "--activation",
       "relu", "--scale", "none"},
      {"--positions", "sinusoidal", "--norm", "none", "--activation", "silu", "--tied", "true"},
      {"--positions", "none", "--activation", "none", "--mask", "none", "--scale", "0.3"},
      {"--activation", "gelu_tanh", "--norm", "post", "--norm-kind", "rms", "--d-ff", "5"}};
  std::string ask = "import sys, runpy\nsys.dont_write_bytecode = True\n";
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const std::string name = "kind" + std::to_string(i);
    std::vector<std::string> more = kinds[i];
    more.insert(more.end(), {"--out", name + "/runs", "--lr", "0.05"});
    ASSERT_EQ(run_heed(tiny(more), start).code, 0);
    ASSERT_EQ(run_heed({"export", name + "/runs", "--out", name + "/there"}, start).code, 0);
    ASSERT_EQ(
        run_heed({"import", name + "/there/model.safetensors", "--out", name + "/back"}, start)
            .code,
        0);
    EXPECT_EQ(last_checkpoint(only_run(folder / (name + "/back"))),
              last_checkpoint(only_run(folder / (name + "/runs"))));
    ask += "assert runpy.run_path('" + name + "/there/model.py')['check'](), '" + name + "'\n";
  }
  write_file(folder / "ask.py", ask);
  EXPECT_EQ(python("ask.py", folder.path()), 0) << read_file(folder / "said.txt");
}

TEST(Exchange, TheProgramNoticesAnotherModel) {
  const Exported e;
  if (python("-c 'import torch'", e.folder.path()) != 0) GTEST_SKIP() << "no PyTorch here";
  SafeTensors probe = read_safetensors(e.folder / "there/probe.safetensors");
  for (NamedTensor& x : probe.tensors)
    if (x.name == "logits") x.value.mutate<float>()[7] += .01F;
  write_safetensors(e.folder / "there/probe.safetensors", probe.tensors);
  EXPECT_NE(python("there/model.py", e.folder.path()), 0);
  EXPECT_THAT(read_file(e.folder / "said.txt"), AllOf(HasSubstr("at most 1.0e-02")));
}

}  // namespace
}  // namespace heed
