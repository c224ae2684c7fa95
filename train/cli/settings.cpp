#include <heed/autograd/error.h>
#include <heed/autograd/rng.h>
#include <heed/data/numbers.h>
#include <heed/data/suggest.h>
#include <heed/layers/choice.h>
#include <heed/train/cli/config_file.h>
#include <heed/train/cli/settings.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace heed::cli {
namespace {

/// The tasks that have an option of this name.
std::vector<std::string> tasks_with(std::string_view option) {
  std::vector<std::string> names;
  for (const TaskInfo& info : tasks())
    if (std::ranges::find(info.options, option, &TaskOption::name) != info.options.end())
      names.push_back(info.name);
  return names;
}

constexpr double kLeastScale = 1e-6, kMostScale = 1e6;  // beyond them f32 has no softmax to learn

constexpr double kMostByHeart = 1e6;  // tokens: drawn and counted in about a second

}  // namespace

std::string fingerprint_of(std::string_view bytes) {
  const std::uint64_t hash = Rng(0).stream(bytes).state().key;  // of FNV-1a, by Philox
  return fmt::format("{}-{:016x}", bytes.size(), hash);
}

std::string scale_range() {
  return fmt::format("sqrt for 1/sqrt(d_head), none or a number from {:g} to {:g}", kLeastScale,
                     kMostScale);
}

std::optional<double> scale_named(std::string_view written) {
  if (written == "sqrt") return {};
  if (written == "none") return 1.0;
  try {
    if (const double scale = Real{kMostScale}.read("scale", written); scale >= kLeastScale)
      return scale;
  } catch (const ValueError&) {
  }
  throw ValueError(
      unknown_choice("scale", written, scale_range(), std::vector<std::string>{"sqrt", "none"}));
}

std::string belongs_elsewhere(std::string_view written, std::string_view task) {
  const std::size_t dashes = std::min(written.find_first_not_of('-'), written.size());
  const std::vector<std::string> owners = tasks_with(written.substr(dashes));
  const bool known = std::ranges::find(tasks(), task, &TaskInfo::name) != tasks().end();
  if (!known || owners.empty() || std::ranges::find(owners, task) != owners.end()) return "";
  return text(written, " belongs to ", one_of(owners), ", not to ", task);
}

void set(Settings& settings, std::string_view name, std::string_view value) {
  const auto found = std::ranges::find(all_settings(), name, &Setting::name);
  if (found != all_settings().end()) return found->set(settings, value);
  std::vector<std::string> names{"task", "file"};
  for (const Setting& setting : all_settings()) names.push_back(setting.name);
  for (const auto& [option, unused] : settings.options) names.push_back(option);
  if (!settings.options.contains(name)) {
    const std::string elsewhere = belongs_elsewhere(name, settings.task);
    throw ValueError(elsewhere.empty() ? unknown_name("setting", name, names) : elsewhere);
  }
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
      throw ConfigError(text(origin, ", line ", line, ": ", error.what()));
    }
  }
}

void validate(const Settings& settings) {
  heed::validate(model_config(settings, 1));
  if (settings.min_lr > settings.lr)
    throw ValueError(text("min-lr = ", settings.min_lr, " is above lr = ", settings.lr));
  const double by_heart = static_cast<double>(settings.overfit) *
                          static_cast<double>(settings.batch) *
                          static_cast<double>(settings.context);
  if (by_heart > kMostByHeart)
    throw ValueError(text("overfit = ", settings.overfit, ": batches of ", settings.batch,
                          " rows of ", settings.context, " positions are ", by_heart,
                          " tokens to learn by heart, which may be at most ", kMostByHeart));
  if (settings.factor == 0) throw ValueError("factor = 0: it must be above 0");
  if (settings.optimizer == "nesterov" && settings.momentum == 0)
    throw ValueError("momentum = 0: it must be above 0 for optimizer = nesterov");
}

TransformerConfig model_config(const Settings& settings, std::int64_t vocabulary) {
  return {.vocabulary = vocabulary,
          .context = settings.context,
          .layers = settings.layers,
          .heads = settings.heads,
          .kv_heads = settings.kv_heads,
          .d_model = settings.d_model,
          .d_ff = settings.d_ff,
          .dropout = settings.dropout,
          .positions = named("positions", settings.positions, kPositions),
          .norm = named("norm", settings.norm, kNormPlaces),
          .norm_kind = named("norm-kind", settings.norm_kind, kNormKinds),
          .activation = named("activation", settings.activation, kActivations),
          .causal = settings.mask != "none",
          .scale = scale_named(settings.scale),
          .tied_embedding = settings.tied};
}

Schedule schedule_of(const Settings& settings) {
  return {.decay = named("schedule", settings.schedule, kDecays),
          .lr = settings.lr,
          .min_lr = settings.min_lr,
          .warmup = settings.warmup,
          .end = settings.steps,
          .period = settings.period,
          .factor = settings.factor};
}

}  // namespace heed::cli
