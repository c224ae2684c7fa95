#include <heed/autograd/error.h>
#include <heed/data/numbers.h>
#include <heed/data/suggest.h>
#include <heed/layers/choice.h>
#include <heed/train/cli/config_file.h>
#include <heed/train/cli/optimizer_of.h>
#include <heed/train/cli/settings.h>
#include <heed/train/optimizers/groups.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <limits>
#include <optional>
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

/// Some text; `check` throws a ValueError that names the setting unless it is a good one.
template <class Check>
Setting words(std::string group, std::string name, std::string help, std::string range,
              std::string Recipe::*member, Check check) {
  return {.name = std::move(name),
          .group = std::move(group),
          .help = std::move(help),
          .range = std::move(range),
          .quoted = true,
          .get = [member](const Settings& s) { return s.*member; },
          .set =
              [=](Settings& s, std::string_view written) {
                check(written);
                s.*member = written;
              }};
}

/// One of a few words.
Setting choice(std::string group, std::string name, std::string help, std::vector<std::string> all,
               std::string Recipe::*member) {
  const std::string range = one_of(all);
  const auto check = [=](std::string_view written) {
    if (std::ranges::find(all, written) == all.end())
      throw ValueError(text(name, " = ", written, ": it must be ", range));
  };
  return words(std::move(group), name, std::move(help), range, member, check);
}

constexpr const char* kScaleRange = "sqrt for 1/sqrt(d_head), none or a number above 0";

/// What `scale` stands for; nothing for 1/sqrt(d_head).
std::optional<double> scale_named(std::string_view written) {
  if (written == "sqrt") return {};
  if (written == "none") return 1.0;
  try {
    if (const double scale = Real{}.read("scale", written); scale > 0) return scale;
  } catch (const ValueError&) {
  }
  throw ValueError(text("scale = ", written, ": it must be ", kScaleRange));
}

Setting tied_setting() {
  return {.name = "tied",
          .group = "Model",
          .help = "whether the token embedding is also the head",
          .range = "true or false",
          .quoted = false,
          .get = [](const Settings& s) { return s.tied ? "true" : "false"; },
          .set =
              [](Settings& s, std::string_view written) {
                if (written != "true" && written != "false")
                  throw ValueError(text("tied = ", written, ": it must be true or false"));
                s.tied = written == "true";
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
      number(model, "kv-heads", "heads of keys and values; they divide heads; 0 for as many",
             Whole{0, 1000}, &Settings::kv_heads),
      choice(model, "positions", "how the order of the tokens is known", names_of(kPositions),
             &Settings::positions),
      choice(model, "norm", "where the norms of a block stand", names_of(kNormPlaces),
             &Settings::norm),
      choice(model, "norm-kind", "what is normalised by", names_of(kNormKinds),
             &Settings::norm_kind),
      choice(model, "activation", "of the MLP; none for blocks of attention alone",
             names_of(kActivations), &Settings::activation),
      words(model, "scale", "what the scores of attention are multiplied by", kScaleRange,
            &Settings::scale, scale_named),
      choice(model, "mask", "whether a position sees only itself and those before it",
             {"causal", "none"}, &Settings::mask),
      tied_setting(),
      number(training, "steps", "updates of the weights", Whole{}, &Settings::steps),
      number(training, "batch", "rows of a batch", Whole{1, 1'000'000}, &Settings::batch),
      number(training, "accumulate", "batches that make one update", Whole{1, 1'000'000},
             &Settings::accumulate),
      choice(training, "optimizer", "how the weights follow their gradients", optimizer_names(),
             &Settings::optimizer),
      number(training, "lr", "learning rate at its peak", Real{}, &Settings::lr),
      number(training, "min-lr", "learning rate at the end of the schedule", Real{},
             &Settings::min_lr),
      choice(training, "schedule", "how lr falls to min-lr after the warm-up", names_of(kDecays),
             &Settings::schedule),
      number(training, "period",
             "steps of the fall that ends wsd, and between those of step; 0 for a fifth", Whole{},
             &Settings::period),
      number(training, "factor", "what is left of lr after each fall of step", Real{1},
             &Settings::factor),
      number(training, "warmup", "steps in which lr climbs to its peak", Whole{},
             &Settings::warmup),
      number(training, "weight-decay", "how fast weights shrink; see decays", Real{},
             &Settings::weight_decay),
      choice(training, "decays", "what weight-decay is for; weights are matrices but embeddings",
             decay_rule_names(), &Settings::decays),
      words(training, "groups", "rates of some weights, as in \"*.bias lr=2; head.* decay=0\"",
            "patterns of names, each with lr=X or decay=X", &Settings::groups, parse_groups),
      number(training, "momentum", "of sgd, nesterov and muon", Real{1, true}, &Settings::momentum),
      number(training, "beta1",
             "of adam, adamw, lion and muon's adamw: how long they remember gradients",
             Real{1, true}, &Settings::beta1),
      number(training, "beta2",
             "of the same, where lion remembers gradients by it, and of rmsprop: how long they "
             "remember the squares",
             Real{1, true}, &Settings::beta2),
      number(training, "clip", "largest norm of the gradients; 0 for no limit", Real{},
             &Settings::clip),
      number(training, "ema",
             "decay of an average of the weights, which is evaluated and saved; 0 for none",
             Real{1, true}, &Settings::ema),
      number(training, "eval-every", "steps between evaluations on unseen rows; 0 for the end only",
             Whole{}, &Settings::eval_every),
      number(training, "overfit",
             "train on so many batches and no others: a check that the model can learn at all, "
             "with exit code 4 if it has not memorised them; 0 for the task",
             Whole{0, 1'000'000}, &Settings::overfit),
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
  if (settings.factor == 0) throw ValueError("--factor = 0: it must be above 0");
  if (settings.optimizer == "nesterov" && settings.momentum == 0)
    throw ValueError("--momentum = 0: it must be above 0 for --optimizer nesterov");
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
