#pragma once

#include <heed/train/cli/settings.h>
#include <heed/train/optimizers/optimizer.h>

#include <memory>
#include <string>
#include <vector>

namespace heed::cli {

/// The optimizer that the settings ask for. Throws ValueError for a name that is none.
std::unique_ptr<Optimizer> optimizer_of(const Settings& settings, Parameters parameters);

/// What `optimizer` and `decays` may be.
std::vector<std::string> optimizer_names();
std::vector<std::string> decay_rule_names();

}  // namespace heed::cli
