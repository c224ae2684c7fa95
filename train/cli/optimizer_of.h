#pragma once

#include <heed/train/cli/settings.h>
#include <heed/train/optimizers/optimizer.h>

#include <memory>
#include <string>
#include <string_view>

namespace heed::cli {

/// The optimizer that the settings ask for.
std::unique_ptr<Optimizer> optimizer_of(const Settings& settings, Parameters parameters);

/// sgd, nesterov, adam, adamw, rmsprop, lion or muon
std::string optimizer_names();
/// matrices, weights or all
std::string decay_rule_names();
/// Throws ValueError unless there is an optimizer, or a rule for weight decay, of that name.
void require_optimizer(std::string_view name);
void require_decay_rule(std::string_view name);

}  // namespace heed::cli
