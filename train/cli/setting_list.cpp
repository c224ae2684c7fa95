#include <heed/autograd/error.h>
#include <heed/data/numbers.h>
#include <heed/data/suggest.h>
#include <heed/layers/choice.h>
#include <heed/train/cli/optimizer_of.h>
#include <heed/train/cli/settings.h>
#include <heed/train/optimizers/groups.h>
#include <heed/train/schedule.h>
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
      throw ValueError(unknown_choice(name, written, range, all));
  };
  return words(std::move(group), name, std::move(help), range, member, check);
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
                constexpr Choice kTied{"true false"};
                s.tied = kTied.read("tied", written) == "true";
              }};
}

Setting groups_setting(const std::string& group) {
  Setting setting = words(
      group, "groups", "rates of some weights, as in \"*.bias lr=2; head.* decay=0\"",
      "none, or patterns of names, each with lr=X or decay=X", &Settings::groups, parse_groups);
  setting.set = [set = setting.set](Settings& s, std::string_view written) {
    set(s, written == "none" ? "" : written);
  };
  setting.get = [get = setting.get](const Settings& s) {
    const std::string groups = get(s);
    return groups.empty() ? "none" : groups;
  };
  return setting;
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
      words(model, "scale", "what the scores of attention are multiplied by", scale_range(),
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
      number(training, "factor", "what is left of lr after each fall of step, above 0", Real{1},
             &Settings::factor),
      number(training, "warmup", "steps in which lr climbs to its peak", Whole{},
             &Settings::warmup),
      number(training, "weight-decay", "how fast weights shrink; see decays", Real{},
             &Settings::weight_decay),
      choice(training, "decays", "what weight-decay is for; weights are matrices but embeddings",
             decay_rule_names(), &Settings::decays),
      groups_setting(training),
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

}  // namespace heed::cli
