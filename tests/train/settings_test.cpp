// What is set of a model reaches it, a checkpoint gives it back, and a config file all settings.
#include <gmock/gmock.h>
#include <heed/autograd/autograd.h>
#include <heed/train/cli/flags.h>
#include <heed/train/cli/saved_run.h>
#include <heed/train/cli/settings.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "process.h"
#include "support.h"

namespace heed::cli {
namespace {

using testing::IsSupersetOf;

using Written = std::map<std::string, std::string>;

Settings with(const Written& written) {
  Settings settings = settings_of("copy");
  for (const Setting& setting : all_settings())
    if (const auto found = written.find(setting.name); found != written.end())
      setting.set(settings, found->second);
  return settings;
}

TransformerConfig config_with(const Written& written) { return model_config(with(written), 5); }

TEST(Settings, ReachTheModel) {
  const TransformerConfig plain = config_with({});
  EXPECT_EQ(plain.kv_heads, 0);
  EXPECT_EQ(plain.positions, Positions::learned);
  EXPECT_EQ(plain.norm, NormPlace::pre);
  EXPECT_EQ(plain.norm_kind, NormKind::layer);
  EXPECT_EQ(plain.activation, Activation::gelu);
  EXPECT_TRUE(plain.causal);
  EXPECT_FALSE(plain.scale.has_value());
  EXPECT_FALSE(plain.tied_embedding);

  EXPECT_EQ(config_with({{"kv-heads", "1"}}).kv_heads, 1);
  EXPECT_EQ(config_with({{"positions", "alibi"}}).positions, Positions::alibi);
  EXPECT_EQ(config_with({{"norm", "post"}}).norm, NormPlace::post);
  EXPECT_EQ(config_with({{"norm-kind", "rms"}}).norm_kind, NormKind::rms);
  EXPECT_EQ(config_with({{"activation", "swiglu"}}).activation, Activation::swiglu);
  EXPECT_FALSE(config_with({{"mask", "none"}}).causal);
  EXPECT_EQ(config_with({{"scale", "none"}}).scale, 1.0);
  EXPECT_EQ(config_with({{"scale", "0.3"}}).scale, 0.3);
  EXPECT_FALSE(config_with({{"scale", "sqrt"}}).scale.has_value());
  EXPECT_TRUE(config_with({{"tied", "true"}}).tied_embedding);
}

/// The flags that `heed train copy --help` lists, without their dashes and without copy's own.
std::vector<std::string> flags_of_train() {
  std::vector<std::string> flags;
  for (const std::string& line : lines_of(run_heed({"train", "copy", "--help"}).out)) {
    const std::size_t start = line.find("--");
    if (start == std::string::npos || line.find_first_not_of(" -h,") < start) continue;
    const std::string name = line.substr(start + 2, line.find_first_of(" ,", start) - start - 2);
    const std::vector<TaskOption>& own = find_task("copy").options;
    if (std::ranges::find(own, name, &TaskOption::name) == own.end()) flags.push_back(name);
  }
  return flags;
}

TEST(Settings, AreNoOptionsOfATask) {
  std::vector<std::string> names = flags_of_train();
  EXPECT_THAT(names, IsSupersetOf({"help", "seed", "out", "detect-anomaly"}));
  for (const char* key : {"task", "file"}) names.push_back(key);
  for (const Setting& setting : all_settings()) names.push_back(setting.name);
  for (const std::string& name : names)
    EXPECT_EQ(
        message_of<ValueError>([&] {
          register_task({.name = "lazy",
                         .options = {Option<Whole>{name, "none", {}, 1}},
                         .make = [](const auto&) { return std::unique_ptr<Task>(); }});
        }),
        "register_task: lazy: an option is called " + name + ", as a flag or setting of heed is");
}

TEST(Settings, AreNamedAsFlagsBeforeTheirValueAlone) {
  CLI::App command;
  for (const char* flag : {"--rows", "--held-out"}) command.add_option(flag);
  EXPECT_EQ(with_flags("rows: held_out = 0 of rows: rows = 2", command),
            "rows: --held-out = 0 of rows: --rows = 2");
}

TEST(Settings, AllComeBackFromAConfigFile) {
  const Written others{{"layers", "3"},
                       {"heads", "5"},
                       {"d-model", "48"},
                       {"d-ff", "96"},
                       {"context", "77"},
                       {"dropout", "0.25"},
                       {"kv-heads", "1"},
                       {"positions", "rotary"},
                       {"norm", "post"},
                       {"norm-kind", "rms"},
                       {"activation", "swiglu"},
                       {"scale", "0.3"},
                       {"mask", "none"},
                       {"tied", "true"},
                       {"steps", "7"},
                       {"batch", "5"},
                       {"accumulate", "3"},
                       {"optimizer", "lion"},
                       {"lr", "0.0123"},
                       {"min-lr", "1e-07"},
                       {"schedule", "wsd"},
                       {"period", "11"},
                       {"factor", "0.35"},
                       {"warmup", "13"},
                       {"weight-decay", "0.0625"},
                       {"decays", "all"},
                       {"groups", R"("a\b"#.* lr=2; head.* decay=0)"},
                       {"momentum", "0.81"},
                       {"beta1", "0.82"},
                       {"beta2", "0.83"},
                       {"clip", "0.7"},
                       {"ema", "0.99"},
                       {"eval-every", "9"},
                       {"overfit", "2"},
                       {"seed", "9223372036854775807"}};
  const Settings plain = settings_of("copy"), written = with(others);
  Settings read = plain;
  apply_config(read, to_config(written), "config.toml");
  for (const Setting& setting : all_settings()) {
    ASSERT_TRUE(others.contains(setting.name)) << setting.name << " needs another value here";
    EXPECT_NE(setting.get(plain), others.at(setting.name)) << setting.name;
    EXPECT_EQ(setting.get(written), others.at(setting.name)) << setting.name;
    EXPECT_EQ(setting.get(read), others.at(setting.name)) << setting.name;
  }
}

TEST(Settings, OfAModelAreInItsCheckpoint) {
  const TemporaryFolder folder;
  const std::vector<Written> all{
      {},
      {{"positions", "rotary"}, {"kv-heads", "1"}, {"activation", "swiglu"}},
      {{"positions", "alibi"}, {"norm", "post"}, {"norm-kind", "rms"}, {"scale", "0.25"}},
      {{"positions", "sinusoidal"}, {"norm", "none"}, {"activation", "none"}, {"tied", "true"}},
      {{"positions", "none"}, {"mask", "none"}, {"activation", "relu"}}};
  const std::unique_ptr<Task> task = make_task("copy");
  const Tokens ids = task->held_out(0, 2).inputs;
  for (const Written& written : all) {
    const Settings settings = with(written);
    Rng rng(3);
    const Transformer model(model_config(settings, task->vocabulary()), rng);
    save_run(folder / "x.safetensors", model, settings, task->tokenizer(), 1);
    const SavedRun loaded = load_run(folder / "x.safetensors");
    EXPECT_EQ(to_config(loaded.settings), to_config(settings));
    EXPECT_EQ(loaded.model(ids).to_vector(), model(ids).to_vector());
  }
}

}  // namespace
}  // namespace heed::cli
