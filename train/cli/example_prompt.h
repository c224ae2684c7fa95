#pragma once

#include <heed/data/task.h>

#include <string>

namespace heed::cli {

/// Something to continue: a held-out row up to its first target or, where that is the first id, the
/// longest word in it; of a row that is but one word, a quarter of what is asked for.
std::string example_prompt(const Task& task);

}  // namespace heed::cli
