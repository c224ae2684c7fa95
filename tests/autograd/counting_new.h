#pragma once

#include <atomic>

namespace heed {

/// Calls of operator new since the program started: a program that links counting_new.cpp has it
/// replaced.
extern std::atomic<long> allocations;
/// Those that ask for an alignment, as heed's own do.
extern std::atomic<long> tensor_allocations;
/// Their bytes.
extern std::atomic<long> tensor_bytes;
/// Calls of malloc and its kin, those of operator new among them, in a program that links
/// counting_malloc.cpp.
extern std::atomic<long> mallocs;
/// The number of aligned ones that still succeed; the next throws std::bad_alloc. Negative: all do.
extern std::atomic<long> until_failure;

}  // namespace heed
