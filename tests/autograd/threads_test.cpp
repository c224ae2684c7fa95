// The pool of threads: what runs, where, and what it leaves behind.
#include <gtest/gtest.h>
#include <heed/autograd/kernels/parallel.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "cpu_time.h"
#include "support.h"

namespace heed {
namespace {

using kernels::parallel_for;
using Range = std::pair<std::int64_t, std::int64_t>;

class Threads : public testing::TestWithParam<int> {
 protected:
  void SetUp() override { set_threads(GetParam()); }
  void TearDown() override { set_threads(before_); }

 private:
  const int before_ = threads();
};

/// The chunks of one call, in order.
std::vector<Range> chunks(std::int64_t count, std::int64_t grain) {
  std::mutex lock;
  std::vector<Range> found;
  parallel_for(count, grain, [&](std::int64_t begin, std::int64_t end) {
    const std::lock_guard hold(lock);
    found.emplace_back(begin, end);
  });
  std::ranges::sort(found);
  return found;
}

/// Waits, but not for ever, until `n` threads have arrived; returns whether they have.
bool meet(std::atomic<int>& arrived, int n) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  ++arrived;
  while (arrived < n && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  return arrived >= n;
}

/// Whether `n` chunks can run at once, which takes `n` threads that are awake.
bool run_at_once(int n) {
  std::atomic<int> arrived = 0, met = 0;
  parallel_for(n, 1, [&](std::int64_t, std::int64_t) { met += meet(arrived, n); });
  return met == n;
}

TEST_P(Threads, CutsDependOnTheProblemAlone) {
  EXPECT_EQ(chunks(10, 4), (std::vector<Range>{{0, 4}, {4, 8}, {8, 10}}));
  EXPECT_EQ(chunks(8, 4), (std::vector<Range>{{0, 4}, {4, 8}}));
  EXPECT_EQ(chunks(4, 4), (std::vector<Range>{{0, 4}}));
  EXPECT_EQ(chunks(1, 4), (std::vector<Range>{{0, 1}}));
  EXPECT_EQ(chunks(0, 4), std::vector<Range>{});
}

TEST_P(Threads, EveryIndexIsMetOnce) {
  std::vector<int> met(100'003);
  for (const std::int64_t grain : {1, 7, 1000, 100'002})
    parallel_for(std::ssize(met), grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) ++met[static_cast<std::size_t>(i)];
    });
  EXPECT_EQ(std::ranges::count(met, 4), std::ssize(met));
}

TEST_P(Threads, ManySmallJobsFollowEachOther) {
  for (std::int64_t job = 0; job < 20'000; ++job) {
    std::int64_t squares[3] = {};
    parallel_for(3, 1, [&](std::int64_t i, std::int64_t) { squares[i] = job * job; });
    ASSERT_EQ(std::ranges::count(squares, job * job), 3) << "job " << job;
  }
}

TEST_P(Threads, AllOfThemTakePart) { EXPECT_TRUE(run_at_once(GetParam())); }

TEST_P(Threads, SleepersWake) {
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(run_at_once(GetParam())) << "round " << i;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

TEST_P(Threads, IdleOnesUseNoTime) {
  chunks(1000, 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const double before = cpu_seconds_of_others();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_LT(cpu_seconds_of_others() - before, 2e-2);  // one that spins uses 100 ms
}

TEST_P(Threads, CallWithinAChunkStaysOnItsThread) {
  std::atomic<int> inner = 0, elsewhere = 0;
  parallel_for(50, 1, [&](std::int64_t, std::int64_t) {
    const auto here = std::this_thread::get_id();
    parallel_for(40, 8, [&](std::int64_t begin, std::int64_t end) {
      inner += static_cast<int>(end - begin);
      elsewhere += std::this_thread::get_id() != here;
    });
  });
  EXPECT_EQ(inner, 50 * 40);
  EXPECT_EQ(elsewhere, 0);
}

TEST_P(Threads, ExceptionReachesTheCallerAndTheNextJobRuns) {
  for (const std::int64_t culprit : {0, 500, 999}) {
    const auto fail = [&] {
      parallel_for(1000, 1, [&](std::int64_t i, std::int64_t) {
        if (i == culprit) throw IndexError(text("chunk ", i));
      });
    };
    EXPECT_EQ(error_of<IndexError>(fail), text("chunk ", culprit));
    EXPECT_EQ(chunks(1000, 1).size(), 1000u);
  }
  EXPECT_THROW(parallel_for(9, 1, [](auto, auto) { throw std::runtime_error("all of them"); }),
               std::runtime_error);
}

TEST_P(Threads, TwoCallersAtOnceBothFinish) {
  const auto add_up = [](std::int64_t& total) {
    for (int job = 0; job < 2000; ++job) {
      std::atomic<std::int64_t> sum = 0;
      parallel_for(100, 9, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) sum += i;
      });
      total += sum;
    }
  };
  std::int64_t here = 0, there = 0;
  std::thread other([&] { add_up(there); });
  add_up(here);
  other.join();
  EXPECT_EQ(here, 2000 * 4950);
  EXPECT_EQ(there, here);
}

TEST_P(Threads, NumberMayChangeWhileAnotherThreadWorks) {
  std::atomic<bool> done = false;
  std::thread other([&] {
    while (!done) chunks(20, 1);
  });
  for (int i = 0; i < 50; ++i) {
    set_threads(1 + i % 4);
    EXPECT_EQ(threads(), 1 + i % 4);
    EXPECT_EQ(chunks(20, 1).size(), 20u);
  }
  done = true;
  other.join();
}

TEST_P(Threads, ChildOfAForkHasThreadsOfItsOwn) {
  ASSERT_TRUE(run_at_once(GetParam()));
  const pid_t child = fork();
  if (child == 0) _exit(threads() == GetParam() && run_at_once(GetParam()) ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(run_at_once(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Number, Threads, testing::Values(1, 2, 3, 8));

TEST(SetThreads, RefusesWhatIsNoNumberOfThreads) {
  const int before = threads();
  for (const int n : {0, -1, kMaxThreads + 1})
    EXPECT_EQ(error_of<ValueError>([&] { set_threads(n); }),
              text("set_threads: ", n, " is outside 1 to 256"));
  EXPECT_EQ(threads(), before);
}

// The environment is read once; a death test of this style is a program from its start.
TEST(SetThreads, StartsFromTheEnvironment) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  setenv("HEED_THREADS", "3", 1);
  EXPECT_EXIT(std::exit(threads()), testing::ExitedWithCode(3), "^$");
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  for (const char* written : {"", "0", "-2", "257", "2x", "x", "99999999999999999999"}) {
    setenv("HEED_THREADS", written, 1);
    EXPECT_EXIT(std::exit(threads()), testing::ExitedWithCode(cores), "^$") << written;
  }
  unsetenv("HEED_THREADS");
  EXPECT_EXIT(std::exit(threads()), testing::ExitedWithCode(cores), "^$");
}

TEST(SetThreads, ProgramEndsCleanlyWithWorkersAwake) {
  const auto end_with_workers = [] {
    set_threads(4);
    chunks(100, 1);
    std::exit(0);
  };
  EXPECT_EXIT(end_with_workers(), testing::ExitedWithCode(0), "^$");
}

TEST(Grain, MakesChunksThatAreWorthItAndNotTooMany) {
  using kernels::column_grain, kernels::grain_of;
  EXPECT_EQ(grain_of(100), 1 << 15);
  EXPECT_EQ(grain_of(100, 1 << 10), 32);
  EXPECT_EQ(grain_of(100, 1 << 20), 2);
  EXPECT_EQ(grain_of(1 << 24), 1 << 18);
  EXPECT_EQ(grain_of(0, 0), 1 << 15);
  EXPECT_EQ(column_grain(512, 1 << 20), 64);
  EXPECT_EQ(column_grain(512, 256), 128);
  EXPECT_EQ(column_grain(512, 255), 192);
}

}  // namespace
}  // namespace heed
