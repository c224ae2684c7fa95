#pragma once

#include <gmock/gmock.h>
#include <heed/autograd/autograd.h>
#include <heed/layers/layers.h>

#include <string>
#include <vector>

#include "cli_support.h"
#include "process.h"
#include "support.h"

namespace heed {

inline Tensor at(const Parameters& all, const std::string& name) {
  for (const NamedTensor& x : all)
    if (x.name == name) return x.value;
  ADD_FAILURE() << "no " << name;
  return {};
}

/// A folder with a run in `runs` and its export in `there`.
struct Exported {
  TemporaryFolder folder;
  Start start{.folder = folder.path()};

  explicit Exported(const std::vector<std::string>& more = {}) {
    EXPECT_EQ(run_heed(tiny(more), start).code, 0);
    const Outcome made = run_heed({"export", "runs", "--for", "pytorch", "--out", "there"}, start);
    EXPECT_EQ(made.code, 0) << made.err;
    EXPECT_THAT(made.out, testing::HasSubstr("python3 there/model.py"));
  }
  std::string evaluated(const std::string& run) const {
    auto result = last_json(run_heed({"eval", run, "--json"}, start).out);
    result.erase("checkpoint");
    return result.dump();
  }
};

}  // namespace heed
