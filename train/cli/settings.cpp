#include <heed/autograd/error.h>
#include <heed/data/suggest.h>
#include <heed/train/cli/config_file.h>
#include <heed/train/cli/settings.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <vector>

namespace heed::cli {
namespace {

constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

/// The whole text as a number, read the same way in every locale; false if it is none.
template <class T>
bool read_number(std::string_view text, T& value) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end;
}

[[noreturn]] void refuse(const std::string& name, std::string_view value,
                         const std::string& range) {
  throw ValueError(text(name, " = ", value, ": it must be ", range));
}

Setting whole(std::string group, std::string name, std::string help, std::int64_t low,
              std::int64_t high, std::int64_t Settings::*member) {
  std::string range = high == kUnlimited ? fmt::format("a whole number, {} or more", low)
                                         : fmt::format("a whole number from {} to {}", low, high);
  return {.name = name,
          .group = std::move(group),
          .help = std::move(help),
          .range = range,
          .quoted = false,
          .get = [member](const Settings& s) { return fmt::format("{}", s.*member); },
          .set =
              [=](Settings& s, std::string_view written) {
                std::int64_t value = 0;
                if (!read_number(written, value) || value < low || value > high)
                  refuse(name, written, range);
                s.*member = value;
              }};
}

Setting real(std::string group, std::string name, std::string help, double high,
             double Settings::*member) {
  std::string range =
      std::isinf(high) ? "a number, 0 or more" : fmt::format("a number from 0 to {}", high);
  return {
      .name = name,
      .group = std::move(group),
      .help = std::move(help),
      .range = range,
      .quoted = false,
      .get = [member](const Settings& s) { return fmt::format("{}", s.*member); },
      .set =
          [=](Settings& s, std::string_view written) {
            double value = 0;
            if (!read_number(written, value) || !std::isfinite(value) || value < 0 || value > high)
              refuse(name, written, range);
            s.*member = value;
          }};
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
              [](Settings& s, std::string_view written) {
                try {
                  s.schedule = name(decay_named(written));
                } catch (const ValueError&) {
                  refuse("schedule", written, kRange);
                }
              }};
}

std::vector<Setting> list_settings() {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::string model = "Model", training = "Training";
  return {
      whole(model, "layers", "blocks of attention and MLP", 1, 1000, &Settings::layers),
      whole(model, "heads", "attention heads of a block; they divide d-model", 1, 1000,
            &Settings::heads),
      whole(model, "d-model", "channels between the blocks", 1, 8192, &Settings::d_model),
      whole(model, "d-ff", "channels within the MLP; 0 for four times d-model", 0, 65536,
            &Settings::d_ff),
      whole(model, "context", "positions the model sees", 1, 65536, &Settings::context),
      real(model, "dropout", "probability that a value is dropped in training", 1,
           &Settings::dropout),
      whole(training, "steps", "updates of the weights", 0, kUnlimited, &Settings::steps),
      whole(training, "batch", "rows of a batch", 1, 1'000'000, &Settings::batch),
      whole(training, "accumulate", "batches that make one update", 1, 1'000'000,
            &Settings::accumulate),
      real(training, "lr", "learning rate at its peak", kInfinity, &Settings::lr),
      real(training, "min-lr", "learning rate at the end of the schedule", kInfinity,
           &Settings::min_lr),
      schedule_setting(),
      whole(training, "warmup", "steps in which lr climbs to its peak", 0, kUnlimited,
            &Settings::warmup),
      real(training, "weight-decay", "of AdamW, on weights and embeddings", kInfinity,
           &Settings::weight_decay),
      real(training, "beta2", "of AdamW: how long it remembers squared gradients", 1,
           &Settings::beta2),
      real(training, "clip", "largest norm of the gradients; 0 for no limit", kInfinity,
           &Settings::clip),
      whole(training, "eval-every", "steps between evaluations on unseen rows; 0 for the end only",
            0, kUnlimited, &Settings::eval_every),
      whole(training, "seed", "of the weights, the batches and dropout", 0, kUnlimited,
            &Settings::seed),
  };
}

const Setting& find_setting(std::string_view name) {
  const auto found = std::ranges::find(all_settings(), name, &Setting::name);
  if (found != all_settings().end()) return *found;
  std::vector<std::string> names{"task", "file"};
  for (const Setting& setting : all_settings()) names.push_back(setting.name);
  throw ValueError(unknown_name("setting", name, names));
}

}  // namespace

std::span<const Setting> all_settings() {
  static const std::vector<Setting> settings = list_settings();
  return settings;
}

Settings settings_of(std::string_view task) {
  Settings settings;
  static_cast<Recipe&>(settings) = find_task(task).recipe;
  settings.task = task;
  return settings;
}

std::string to_config(const Settings& settings) {
  std::string config = "task = " + toml_string(settings.task) + "\n";
  if (!settings.file.empty()) config += "file = " + toml_string(settings.file) + "\n";
  for (const Setting& setting : all_settings()) {
    const std::string value = setting.get(settings);
    config += setting.name + " = " + (setting.quoted ? toml_string(value) : value) + "\n";
  }
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
        find_setting(key).set(settings, value);
    } catch (const ValueError& error) {
      throw ValueError(text(origin, ", line ", line, ": ", error.what()));
    }
  }
}

void validate(const Settings& settings) {
  heed::validate(model_config(settings, 1));
  heed::validate(schedule_of(settings));
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
