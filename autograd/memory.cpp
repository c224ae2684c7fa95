#include <heed/autograd/memory.h>

#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

namespace heed {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kClasses = 4 * 64;

std::atomic<std::int64_t> asked_of_system{0};

// Note [Size classes] Four classes to a power of two, so that at most a fifth of a block of more
// than 256 bytes is unused.
struct SizeClass {
  std::size_t index;
  std::size_t bytes;
};

SizeClass size_class(std::size_t bytes) {
  if (bytes <= 4 * kAlignment) {
    const std::size_t blocks = bytes ? (bytes + kAlignment - 1) / kAlignment : 1;
    return {blocks - 1, blocks * kAlignment};
  }
  const auto power = static_cast<std::size_t>(std::bit_width(bytes - 1)) - 1;  // 2^power < bytes
  const std::size_t quarter = std::size_t{1} << (power - 2);
  const std::size_t quarters = (bytes + quarter - 1) / quarter;  // 5 to 8
  return {4 * power + quarters - 5, quarters * quarter};
}

bool caching() {
  static const bool on = [] {
    const char* value = std::getenv("HEED_CACHE");
    return !value || std::strcmp(value, "0") != 0;
  }();
  return on;
}

struct FreeBlock {
  FreeBlock* next;
};

void* system_allocate(std::size_t bytes) {
  asked_of_system.fetch_add(1, std::memory_order_relaxed);
  return ::operator new (bytes, std::align_val_t{kAlignment});
}
void system_release(void* block) { ::operator delete (block, std::align_val_t{kAlignment}); }

struct Counts {
  std::atomic<std::int64_t> bytes{0}, nodes{0};
};
using Count = std::atomic<std::int64_t> Counts::*;

// Note [What a thread keeps] Each thread has free blocks and counts of its own. Only it changes
// them, which takes no locked instruction; who asks for a sum goes through the list of threads. A
// count may be negative: a block may be released by another thread than asked for it. A thread that
// ends leaves its counts to `ended`, where what it releases still later is counted too (a static
// tensor).
class Thread {
 public:
  Thread();
  ~Thread();
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;

  FreeBlock*& kept(std::size_t index) { return kept_[index]; }
  void add(Count count, std::int64_t more) {
    std::atomic<std::int64_t>& value = counts_.*count;
    value.store(value.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }
  void clear() {
    for (FreeBlock*& list : kept_)
      while (list) system_release(std::exchange(list, list->next));
  }

  static std::int64_t sum(Count count);

 private:
  std::array<FreeBlock*, kClasses> kept_{};
  Counts counts_;
  Thread *next_, *before_ = nullptr;
};

constinit Counts ended;
constinit std::mutex list_mutex;
constinit Thread* list = nullptr;
constinit thread_local Thread* mine = nullptr;
constinit thread_local bool is_over = false;

Thread::Thread() {
  const std::lock_guard lock(list_mutex);
  next_ = list;
  if (next_) next_->before_ = this;
  list = this;
}

Thread::~Thread() {
  clear();
  mine = nullptr;
  is_over = true;
  const std::lock_guard lock(list_mutex);
  for (const Count count : {&Counts::bytes, &Counts::nodes}) ended.*count += counts_.*count;
  if (next_) next_->before_ = before_;
  (before_ ? before_->next_ : list) = next_;
}

std::int64_t Thread::sum(Count count) {
  const std::lock_guard lock(list_mutex);
  std::int64_t total = ended.*count;
  for (const Thread* thread = list; thread; thread = thread->next_) total += thread->counts_.*count;
  return total;
}

Thread* enter() {
  if (is_over) return nullptr;
  static thread_local Thread thread;
  return mine = &thread;
}

/// Null where this thread is past keeping anything.
Thread* this_thread() { return mine ? mine : enter(); }

void add(Thread* thread, Count count, std::int64_t more) {
  if (thread)
    thread->add(count, more);
  else
    ended.*count += more;
}

void* new_block(std::size_t bytes) {
  try {
    return system_allocate(bytes);
  } catch (const std::bad_alloc&) {
    empty_cache();  // what is kept for others may be what is missing here
    return system_allocate(bytes);
  }
}

}  // namespace

void empty_cache() noexcept {
  if (mine) mine->clear();
}

void* allocate(std::size_t bytes) {
  const SizeClass size = size_class(bytes);
  Thread* const thread = this_thread();
  FreeBlock* const kept = thread ? thread->kept(size.index) : nullptr;
  if (kept) thread->kept(size.index) = kept->next;
  void* const block = kept ? kept : new_block(size.bytes);
  add(thread, &Counts::bytes, static_cast<std::int64_t>(size.bytes));
  return block;
}

void release(void* block, std::size_t bytes) noexcept {
  const SizeClass size = size_class(bytes);
  Thread* const thread = this_thread();
  add(thread, &Counts::bytes, -static_cast<std::int64_t>(size.bytes));
  if (!thread || !caching()) return system_release(block);
  FreeBlock*& kept = thread->kept(size.index);
  kept = new (block) FreeBlock{kept};
}

std::int64_t system_allocations() { return asked_of_system.load(std::memory_order_relaxed); }
void detail::count_nodes(std::int64_t more) noexcept { add(this_thread(), &Counts::nodes, more); }

std::int64_t live_bytes() { return Thread::sum(&Counts::bytes); }
std::int64_t live_nodes() { return Thread::sum(&Counts::nodes); }

}  // namespace heed
