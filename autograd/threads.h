#pragma once

namespace heed {

/// The most threads that `set_threads` takes.
inline constexpr int kMaxThreads = 256;

/// On how many threads, the caller's included, the work within an op is shared, for all of the
/// program: 1 keeps it on the caller. The bits of every result are the same for every number.
/// Starts as HEED_THREADS of the environment if that is a number from 1 to kMaxThreads, else as the
/// number of cores that this process may run on. What is too short to gain stays on its caller.
/// Waits for ops that are running on several threads; throws ValueError outside 1 to kMaxThreads.
///
/// Ops of one thread at a time are shared out. Where a second thread of the program calls an op
/// meanwhile, that op runs on its caller alone.
void set_threads(int n);

/// What `set_threads` has set, or fewer if the system gave no more threads.
int threads();

}  // namespace heed
