#include <heed/autograd/error.h>
#include <heed/autograd/kernels/parallel.h>
#include <heed/autograd/threads.h>
#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <new>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

namespace heed {
namespace kernels {
namespace {

// A worker looks for more work this long before it sleeps: waking it costs about half as much.
constexpr std::chrono::microseconds kSpin{50};

thread_local bool in_chunk = false;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// Looks for up to kSpin whether `done()`; returns whether it was.
template <class Done>
bool spin_until(Done done) {
  const auto end = std::chrono::steady_clock::now() + kSpin;
  do {
    for (int i = 0; i < 32; ++i) {
      if (done()) return true;
      pause();
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

struct Job {
  std::int64_t count, grain;
  Chunk chunk;
  void* context;
};

/// A thread's part of a job: what it has not begun. On a cache line of its own, since others help
/// once they are done with theirs.
struct alignas(64) Share {
  std::atomic<std::int64_t> next = 0;
  std::int64_t end = 0;
};

// Note [The pool]
// One job at a time. Its owner, who holds `owner_`, writes the job, opens it, begins a new round (a
// worker waits for one it has not seen), claims chunks like everybody else, closes the job and
// waits until no worker is inside. A thread begins with its own share, the same part of every job,
// so that it finds the rows it made last in its own cache, and then helps with the others; where
// there are fewer chunks than threads, some begin with helping. A worker enters before it looks
// whether the job is open, and the owner closes it before it looks whether somebody is inside; both
// in the one order of sequentially consistent operations, so a worker that comes late either is
// waited for or finds the door closed.
class Pool {
 public:
  explicit Pool(int threads) : threads_(threads) {}

  int threads() const { return threads_.load(std::memory_order_relaxed); }

  void set_threads(int n) {
    const std::lock_guard owner(owner_);
    threads_ = n;
    if (started_ != n - 1) stop();
  }

  /// False if the pool works for another thread.
  bool run(const Job& job) {
    const std::unique_lock owner(owner_, std::try_to_lock);
    if (!owner) return false;
    start();
    job_ = job;
    share_out();
    open_ = true;
    begin_round();
    in_chunk = true;
    claim(0);
    in_chunk = false;
    open_ = false;
    const auto empty = [&] { return inside_ == 0; };
    if (!spin_until(empty))
      while (!empty()) std::this_thread::yield();
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
    return true;
  }

 private:
  void start() {
    try {
      for (; started_ < threads() - 1; ++started_)
        workers_[static_cast<std::size_t>(started_)] =
            std::thread([this, round = round_.load(), self = started_ + 1] { work(round, self); });
    } catch (const std::system_error&) {  // the system gives no more
      threads_ = started_ + 1;
    }
  }

  void stop() {
    stopping_ = true;
    begin_round();
    while (started_ > 0) workers_[static_cast<std::size_t>(--started_)].join();
    stopping_ = false;
  }

  void begin_round() {
    ++round_;
    if (asleep_ == 0) return;
    // Who has counted itself asleep holds the lock until it waits.
    { const std::lock_guard lock(sleep_); }
    wake_.notify_all();
  }

  void work(unsigned seen, int self) {
    in_chunk = true;
    for (;;) {
      const auto begun = [&] { return round_ != seen; };
      if (!spin_until(begun)) {
        std::unique_lock lock(sleep_);
        ++asleep_;
        wake_.wait(lock, begun);
        --asleep_;
      }
      seen = round_;
      if (stopping_) return;
      ++inside_;
      if (open_) claim(self);
      --inside_;
    }
  }

  void share_out() {
    const std::int64_t chunks = ceil_div(job_.count, job_.grain);
    sharing_ = static_cast<int>(std::min<std::int64_t>(threads(), chunks));
    std::int64_t begin = 0;
    for (int i = 0; i < sharing_; ++i) {
      Share& share = shares_[static_cast<std::size_t>(i)];
      share.next.store(begin, std::memory_order_relaxed);
      share.end = begin = std::min(chunks * (i + 1) / sharing_ * job_.grain, job_.count);
    }
  }

  void claim(int self) {
    for (int i = 0; i < sharing_; ++i)
      claim(shares_[static_cast<std::size_t>((self + i) % sharing_)]);
  }

  void claim(Share& share) {
    while (share.next.load(std::memory_order_relaxed) < share.end) {
      const std::int64_t begin = share.next.fetch_add(job_.grain, std::memory_order_relaxed);
      if (begin >= share.end) return;
      try {
        job_.chunk(job_.context, begin, std::min(begin + job_.grain, share.end));
      } catch (...) {
        const std::lock_guard lock(failure_);
        if (!error_) error_ = std::current_exception();
        for (int i = 0; i < sharing_; ++i) {
          Share& each = shares_[static_cast<std::size_t>(i)];
          each.next.store(each.end, std::memory_order_relaxed);
        }
      }
    }
  }

  std::atomic<int> threads_;
  std::mutex owner_;  // guards the six that follow; claim() reads the job of a round that is open
  std::array<std::thread, kMaxThreads - 1> workers_;
  int started_ = 0;
  Job job_ = {};
  std::array<Share, kMaxThreads> shares_;
  int sharing_ = 0;  // so many of them belong to the job
  std::exception_ptr error_;
  std::mutex failure_;  // guards error_ while the job is open

  std::mutex sleep_;
  std::condition_variable wake_;
  std::atomic<int> asleep_ = 0;
  std::atomic<bool> stopping_ = false;

  // Each on a cache line of its own: all threads write here.
  alignas(64) std::atomic<unsigned> round_ = 0;
  std::atomic<bool> open_ = false;
  alignas(64) std::atomic<int> inside_ = 0;
};

int threads_at_start() {
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());  // of this process
  const char* value = std::getenv("HEED_THREADS");
  const std::string_view written = value ? value : "";
  int n = 0;
  const auto [end, error] = std::from_chars(written.data(), written.data() + written.size(), n);
  const bool whole = error == std::errc() && end == written.data() + written.size();
  return whole && 1 <= n && n <= kMaxThreads ? n : std::clamp(cores, 1, kMaxThreads);
}

// Note [Fork and exit]
// The child of a fork has none of the workers, and locks may be held by threads it does not have:
// it gets a new pool in the place of the old, which is not destroyed. At exit the workers are
// joined; the pool itself stays, for ops in the destructors of static objects.
alignas(Pool) std::byte place[sizeof(Pool)];

Pool& pool() {
  static Pool* const made = [] {
    Pool* first = new (place) Pool(threads_at_start());
    pthread_atfork(nullptr, nullptr, [] {
      new (place) Pool(std::launder(reinterpret_cast<Pool*>(place))->threads());
    });
    std::atexit([] { pool().set_threads(1); });
    return first;
  }();
  return *made;
}

}  // namespace

void run_chunks(std::int64_t count, std::int64_t grain, Chunk chunk, void* context) {
  if (!in_chunk && pool().threads() > 1 && pool().run({count, grain, chunk, context})) return;
  for (std::int64_t begin = 0; begin < count; begin += grain)
    chunk(context, begin, std::min(begin + grain, count));
}

}  // namespace kernels

void set_threads(int n) {
  if (n < 1 || n > kMaxThreads)
    throw ValueError(text("set_threads: ", n, " is outside 1 to ", kMaxThreads));
  kernels::pool().set_threads(n);
}

int threads() { return kernels::pool().threads(); }

}  // namespace heed
