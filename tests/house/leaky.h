// What lint_includes.sh must refuse: it is not part of heed.
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "../../layers/layers.h"
