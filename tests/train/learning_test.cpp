// Whether what is trained by the command line learns what it should.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "process.h"
#include "support.h"

namespace heed {
namespace {

TEST(Learning, CopyIsSolvedAndItsHeadFound) {
  for (const char* seed : {"1", "2", "3"}) {
    const TemporaryFolder folder;
    const Outcome trained =
        run_heed({"train", "copy", "--json", "--seed", seed}, {.folder = folder.path()});
    ASSERT_EQ(trained.code, 0) << trained.err;
    const auto result = nlohmann::json::parse(lines_of(trained.out).back());
    EXPECT_LE(result["steps"], 300);
    EXPECT_GE(result["exact_match"], .999) << "seed " << seed;
    EXPECT_GE(result["alignment"], .9) << "seed " << seed;

    const Outcome sampled =
        run_heed({"sample", "runs", "--prompt", "ponmlkjihgfedcb|"}, {.folder = folder.path()});
    EXPECT_EQ(sampled.out, "ponmlkjihgfedcb|ponmlkjihgfedcb\n") << "seed " << seed;
  }
}

}  // namespace
}  // namespace heed
