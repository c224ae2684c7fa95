#include <heed/autograd/error.h>
#include <heed/layers/choice.h>
#include <heed/train/cli/optimizer_of.h>
#include <heed/train/optimizers/adam.h>
#include <heed/train/optimizers/groups.h>
#include <heed/train/optimizers/lion.h>
#include <heed/train/optimizers/muon.h>
#include <heed/train/optimizers/rmsprop.h>
#include <heed/train/optimizers/sgd.h>

#include <array>
#include <utility>
#include <vector>

namespace heed::cli {
namespace {

/// What stands for a word of the command line; see layers/choice.h.
template <class T>
struct Named {
  std::string_view word;
  T value;
};
template <class T>
std::string_view name(const Named<T>& named) {
  return named.word;
}

using Rule = bool (*)(const NamedTensor&);
constexpr std::array<Named<Rule>, 3> kDecayRules{
    {{"matrices", decay_matrices}, {"weights", decay_weights}, {"all", decay_all}}};

/// The settings, and what several optimizers take of them.
struct Common {
  const Settings& s;
  DecayRule decays = named("decays", s.decays, kDecayRules).value;
  ParameterGroups groups = parse_groups(s.groups);
};

template <bool nesterov>
std::unique_ptr<Optimizer> make_sgd(Parameters p, const Common& c) {
  return std::make_unique<Sgd>(std::move(p), SgdOptions{.lr = c.s.lr,
                                                        .momentum = c.s.momentum,
                                                        .nesterov = nesterov,
                                                        .weight_decay = c.s.weight_decay,
                                                        .decays = c.decays,
                                                        .groups = c.groups});
}

template <class Made, class Options>
std::unique_ptr<Optimizer> make_adam(Parameters p, const Common& c) {
  return std::make_unique<Made>(std::move(p), Options{.lr = c.s.lr,
                                                      .beta1 = c.s.beta1,
                                                      .beta2 = c.s.beta2,
                                                      .weight_decay = c.s.weight_decay,
                                                      .decays = c.decays,
                                                      .groups = c.groups});
}

std::unique_ptr<Optimizer> make_rmsprop(Parameters p, const Common& c) {
  return std::make_unique<Rmsprop>(std::move(p), RmspropOptions{.lr = c.s.lr,
                                                                .alpha = c.s.beta2,
                                                                .weight_decay = c.s.weight_decay,
                                                                .decays = c.decays,
                                                                .groups = c.groups});
}

std::unique_ptr<Optimizer> make_muon(Parameters p, const Common& c) {
  return std::make_unique<Muon>(std::move(p), MuonOptions{.lr = c.s.lr,
                                                          .momentum = c.s.momentum,
                                                          .beta1 = c.s.beta1,
                                                          .beta2 = c.s.beta2,
                                                          .weight_decay = c.s.weight_decay,
                                                          .decays = c.decays,
                                                          .groups = c.groups});
}

using Make = std::unique_ptr<Optimizer> (*)(Parameters, const Common&);
constexpr std::array<Named<Make>, 7> kOptimizers{{{"sgd", make_sgd<false>},
                                                  {"nesterov", make_sgd<true>},
                                                  {"adam", make_adam<Adam, AdamOptions>},
                                                  {"adamw", make_adam<AdamW, AdamWOptions>},
                                                  {"rmsprop", make_rmsprop},
                                                  {"lion", make_adam<Lion, LionOptions>},
                                                  {"muon", make_muon}}};

}  // namespace

std::unique_ptr<Optimizer> optimizer_of(const Settings& settings, Parameters parameters) {
  const Make make = named("optimizer", settings.optimizer, kOptimizers).value;
  return make(std::move(parameters), Common{settings});
}

std::vector<std::string> optimizer_names() { return names_of(kOptimizers); }
std::vector<std::string> decay_rule_names() { return names_of(kDecayRules); }

}  // namespace heed::cli
