// Profile counts and times what passes apply and the sweep.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heed/autograd/autograd.h>

#include <chrono>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>

namespace heed {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

/// The calls of every op: forward, backward.
std::map<std::string, std::pair<std::int64_t, std::int64_t>> calls_of(const Profile& profile) {
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> calls;
  for (const OpProfile& op : profile.ops())
    calls[std::string(op.op)] = {op.forward.calls, op.backward.calls};
  return calls;
}

Tensor leaf() { return tensor({1, 2, 3}, {3}, f64).requires_grad_(); }

// The backward of exp is a product, that of square two: they are no calls of mul.
TEST(Profile, CountsEachOpOnceInEachDirection) {
  const Tensor x = leaf();
  const Profile profile;
  backward(sum(exp(square(x)) + exp(x)));
  EXPECT_THAT(calls_of(profile),
              ElementsAre(Pair("add", std::pair(1, 1)), Pair("exp", std::pair(2, 2)),
                          Pair("square", std::pair(1, 1)), Pair("sum", std::pair(1, 1))));
}

TEST(Profile, AFormComposedOfOtherOpsIsOneCall) {
  const Tensor x = leaf();
  const Profile profile;
  grad(sum(gelu(x)), x, {.create_graph = true});
  EXPECT_THAT(calls_of(profile),
              ElementsAre(Pair("gelu", std::pair(1, 1)), Pair("sum", std::pair(1, 1))));
}

TEST(Profile, CountsWhileItIsAliveAndOnItsThread) {
  const Tensor x = leaf();
  const Profile outer;
  {
    const Profile inner;
    exp(x);
    EXPECT_THAT(calls_of(inner), ElementsAre(Pair("exp", std::pair(1, 0))));
    EXPECT_THAT(outer.ops(), IsEmpty());
  }
  log(x);
  std::thread([&] { tanh(x.detach()); }).join();
  EXPECT_THAT(calls_of(outer), ElementsAre(Pair("log", std::pair(1, 0))));
}

struct Slow {
  static constexpr std::string_view name = "slow";
  static constexpr Saves saves = Saves::none;
  Tensor forward(const Tensor& x) const {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return x;
  }
  Grads backward(const Context&, const Tensor& g) const {
    std::this_thread::sleep_for(std::chrono::milliseconds(4));
    return {g};
  }
};

TEST(Profile, TakesTheTimeOfEitherDirection) {
  const Tensor x = leaf();
  const Profile profile;
  backward(sum(apply(Slow{}, apply(Slow{}, x))));
  const OpProfile slow = profile.ops().front();
  EXPECT_EQ(slow.op, "slow");
  EXPECT_EQ(slow.forward.calls, 2);
  EXPECT_GE(slow.forward.seconds, 0.004);
  EXPECT_GE(slow.backward.seconds, 0.008);
}

struct Failing {
  static constexpr std::string_view name = "failing";
  static constexpr Saves saves = Saves::none;
  Tensor forward(const Tensor& x) const {
    exp(x);
    throw std::runtime_error("failed");
  }
  Grads backward(const Context&, const Tensor& g) const { return {g}; }
};

TEST(Profile, GoesOnAfterAnOpThatThrew) {
  const Tensor x = leaf();
  const Profile profile;
  EXPECT_THROW(apply(Failing{}, x), std::runtime_error);
  log(x);
  EXPECT_THAT(calls_of(profile),
              ElementsAre(Pair("failing", std::pair(1, 0)), Pair("log", std::pair(1, 0))));
}

}  // namespace
}  // namespace heed
