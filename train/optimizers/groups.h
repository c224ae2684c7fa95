#pragma once

#include <heed/train/optimizers/optimizer.h>

#include <string_view>

namespace heed {

/// Groups as they are written, "*.bias lr=2; *embedding* lr=0.1 decay=0": a pattern for the whole
/// name of a parameter, in which * stands for any characters and ? for one, then how many times the
/// optimizer's lr is the group's, and its own weight decay. Throws ValueError saying what is wrong
/// in which group.
ParameterGroups parse_groups(std::string_view written);

}  // namespace heed
