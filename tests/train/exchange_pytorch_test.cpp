// Weights to PyTorch and back, with PyTorch itself where it is present.
#include <gmock/gmock.h>
#include <heed/autograd/autograd.h>
#include <heed/train/train.h>

#include <cstdlib>
#include <filesystem>

#include "exchange_support.h"

namespace heed {
namespace {

using testing::HasSubstr;

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
  EXPECT_THAT(read_file(e.folder / "said.txt"), HasSubstr("at most 1.0e-02"));
}

}  // namespace
}  // namespace heed
