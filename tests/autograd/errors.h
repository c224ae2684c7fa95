#pragma once

#include <gtest/gtest.h>

#include <string>

namespace heed {

/// What the error of type E says that `f` throws.
template <class E, class F>
std::string error_of(F f) {
  try {
    f();
  } catch (const E& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

}  // namespace heed
