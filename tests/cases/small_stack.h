#pragma once

#include <pthread.h>

#include <exception>
#include <stdexcept>

namespace heed::cases {

/// Runs `f` in a thread with a stack of 256 KiB; an exception comes out here.
template <class F>
void on_small_stack(F f) {
  struct Task {
    F run;
    std::exception_ptr error = {};
  } task{f};
  const auto body = [](void* argument) -> void* {
    Task& t = *static_cast<Task*>(argument);
    try {
      t.run();
    } catch (...) {
      t.error = std::current_exception();
    }
    return nullptr;
  };
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 256 * 1024);
  pthread_t thread;
  const int failed = pthread_create(&thread, &attributes, body, &task);
  pthread_attr_destroy(&attributes);
  if (failed) throw std::runtime_error("no thread with a small stack");
  pthread_join(thread, nullptr);
  if (task.error) std::rethrow_exception(task.error);
}

}  // namespace heed::cases
