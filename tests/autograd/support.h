#pragma once

#include <gtest/gtest.h>
#include <heed/autograd/autograd.h>

#include <string>
#include <utility>
#include <vector>

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

/// With one axis, in f64.
inline Tensor leaf(std::vector<double> values) {
  const auto n = static_cast<std::int64_t>(values.size());
  return tensor(std::move(values), {n}, f64).requires_grad_();
}

/// Whatever a test makes is gone when it ends.
class NothingStays : public testing::Test {
 protected:
  void TearDown() override {
    EXPECT_EQ(live_nodes(), nodes_);
    EXPECT_EQ(live_bytes(), bytes_);
    EXPECT_TRUE(grad_enabled());
  }

 private:
  const std::int64_t nodes_ = live_nodes(), bytes_ = live_bytes();
};

}  // namespace heed
