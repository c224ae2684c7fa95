#pragma once

#include <heed/data/task.h>
#include <heed/train/cli/settings.h>

namespace heed::cli {

/// Prints what a training starts with: the ops of the first forward with their shapes, the
/// parameters, and the arithmetic of one query of one head. Trains and writes nothing.
void explain(const Settings& settings, const Task& task);

}  // namespace heed::cli
