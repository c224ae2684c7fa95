#include <heed/autograd/error.h>
#include <heed/data/numbers.h>
#include <heed/data/suggest.h>
#include <heed/train/cli/config_file.h>
#include <heed/train/cli/settings.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace heed::cli {
namespace {

template <class Range, class Member>
Setting number(std::string group, std::string name, std::string help, Range range, Member member) {
  return {
      .name = name,
      .group = std::move(group),
      .help = std::move(help),
      .range = range.range(),
      .quoted = false,
      .get = [member](const Settings& s) { return fmt::format("{}", s.*member); },
      .set = [=](Settings& s, std::string_view written) { s.*member = range.read(name, written); }};
}

Setting schedule_setting() {
  constexpr const char* kRange = "constant, linear or cosine";
  return {.name = "schedule",
          .group = "Training",
          .help = "how lr falls to min-lr after the warm-up",
          .range = kRange,
          .quoted = true,
          .get = [](const Settings& s) { return s.schedule; },
          .set =
              [=](Settings& s, std::string_view written) {
                try {
                  s.schedule = name(decay_named(written));
                } catch (const ValueError&) {
                  throw ValueError(text("schedule = ", written, ": it must be ", kRange));
                }
              }};
}

std::vector<Setting> list_settings() {
  constexpr std::int64_t kAnySeed = std::numeric_limits<std::int64_t>::max();
  const std::string model = "Model", training = "Training";
  return {
      number(model, "layers", "blocks of attention and MLP", Whole{1, 1000}, &Settings::layers),
      number(model, "heads", "attention heads of a block; they divide d-model", Whole{1, 1000},
             &Settings::heads),
      number(model, "d-model", "channels between the blocks", Whole{1, 8192}, &Settings::d_model),
      number(model, "d-ff", "channels within the MLP; 0 for four times d-model", Whole{0, 65536},
             &Settings::d_ff),
      number(model, "context", "positions the model sees", Whole{1, 65536}, &Settings::context),
      number(model, "dropout", "probability that a value is dropped in training", Real{1},
             &Settings::dropout),
      number(training, "steps", "updates of the weights", Whole{}, &Settings::steps),
      number(training, "batch", "rows of a batch", Whole{1, 1'000'000}, &Settings::batch),
      number(training, "accumulate", "batches that make one update", Whole{1, 1'000'000},
             &Settings::accumulate),
      number(training, "lr", "learning rate at its peak", Real{}, &Settings::lr),
      number(training, "min-lr", "learning rate at the end of the schedule", Real{},
             &Settings::min_lr),
      schedule_setting(),
      number(training, "warmup", "steps in which lr climbs to its peak", Whole{},
             &Settings::warmup),
      number(training, "weight-decay", "of AdamW, on weights and embeddings", Real{},
             &Settings::weight_decay),
      number(training, "beta2", "of AdamW: how long it remembers squared gradients", Real{1, true},
             &Settings::beta2),
      number(training, "clip", "largest norm of the gradients; 0 for no limit", Real{},
             &Settings::clip),
      number(training, "eval-every", "steps between evaluations on unseen rows; 0 for the end only",
             Whole{}, &Settings::eval_every),
      number(training, "seed", "of the weights, the batches and dropout", Whole{0, kAnySeed},
             &Settings::seed),
  };
}

}  // namespace

std::span<const Setting> all_settings() {
  static const std::vector<Setting> settings = list_settings();
  return settings;
}

void set(Settings& settings, std::string_view name, std::string_view value) {
  const auto found = std::ranges::find(all_settings(), name, &Setting::name);
  if (found != all_settings().end()) return found->set(settings, value);
  std::vector<std::string> names{"task", "file"};
  for (const Setting& setting : all_settings()) names.push_back(setting.name);
  for (const auto& [option, unused] : settings.options) names.push_back(option);
  if (!settings.options.contains(name)) throw ValueError(unknown_name("setting", name, names));
  settings.options.find(name)->second = find_option(find_task(settings.task), name).read(value);
}

Settings settings_of(std::string_view task) {
  const TaskInfo& info = find_task(task);
  Settings settings;
  static_cast<Recipe&>(settings) = info.recipe;
  settings.task = task;
  for (const TaskOption& option : info.options) settings.options[option.name] = option.value;
  return settings;
}

TaskOptions task_options(const Settings& settings, const std::string& file) {
  return {.file = file.empty() ? settings.file : file,
          .context = settings.context,
          .chosen = settings.options};
}

std::string to_config(const Settings& settings) {
  std::string config = "task = " + toml_string(settings.task) + "\n";
  if (!settings.file.empty()) config += "file = " + toml_string(settings.file) + "\n";
  const auto add = [&](const std::string& name, const std::string& value, bool quoted) {
    config += name + " = " + (quoted ? toml_string(value) : value) + "\n";
  };
  for (const auto& [name, value] : settings.options)
    add(name, value, find_option(find_task(settings.task), name).quoted);
  for (const Setting& setting : all_settings())
    add(setting.name, setting.get(settings), setting.quoted);
  return config;
}

std::string task_in_config(std::string_view config, std::string_view origin) {
  for (const ConfigEntry& entry : parse_config(config, origin))
    if (entry.section.empty() && entry.key == "task") return entry.value;
  return "";
}

void apply_config(Settings& settings, std::string_view config, std::string_view origin) {
  for (const auto& [section, key, value, line] : parse_config(config, origin)) {
    if (section == "build") continue;
    try {
      if (!section.empty()) throw ValueError("there is no section [" + section + "]");
      if (key == "file")
        settings.file = value;
      else if (key != "task")
        set(settings, key, value);
    } catch (const ValueError& error) {
      throw ValueError(text(origin, ", line ", line, ": ", error.what()));
    }
  }
}

void validate(const Settings& settings) {
  heed::validate(model_config(settings, 1));
  if (settings.min_lr > settings.lr)
    throw ValueError(text("--min-lr = ", settings.min_lr, " is above --lr = ", settings.lr));
}

TransformerConfig model_config(const Settings& settings, std::int64_t vocabulary) {
  return {.vocabulary = vocabulary,
          .context = settings.context,
          .layers = settings.layers,
          .heads = settings.heads,
          .d_model = settings.d_model,
          .d_ff = settings.d_ff,
          .dropout = settings.dropout};
}

Schedule schedule_of(const Settings& settings) {
  return {.decay = decay_named(settings.schedule),
          .lr = settings.lr,
          .min_lr = settings.min_lr,
          .warmup = settings.warmup,
          .end = settings.steps};
}

}  // namespace heed::cli
