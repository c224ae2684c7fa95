#pragma once

#include <heed/autograd/tensor.h>

#include <concepts>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

namespace heed {

struct GradcheckOptions {
  int order = 1;   ///< 1: the gradient; 2: also the gradient of the gradient
  double eps = 0;  ///< step of the central difference; 0: 1e-6 of the element's size or of 1
  double rtol = 1e-5;
  double atol = 1e-7;
  std::uint64_t seed = 0;  ///< of the random cotangent and directions
};

/// What `gradcheck` found. Converts to bool and to any result type made from (bool) with `<<`, such
/// as testing::AssertionResult, which then prints the message.
struct GradcheckResult {
  bool ok = true;
  int order = 1;              ///< of the derivative that was checked last
  std::size_t inputs = 0;     ///< number of inputs of the function
  std::int64_t checked = 0;   ///< elements compared at that order
  std::int64_t compared = 0;  ///< elements compared at all orders
  std::int64_t wrong = 0;     ///< those of them that are off by more than their tolerance
  double worst = 0;           ///< largest error over its tolerance; above 1 fails
  double relative = 0;        ///< largest |analytic - numeric| / max(1, both), at all orders
  std::size_t input = 0;      ///< input of the worst element; `inputs`: the cotangent (order 2)
  std::string name = {};      ///< what the message calls that input
  Shape shape = {};           ///< of that input
  std::int64_t element = 0;   ///< its row-major index in that input
  double analytic = 0;        ///< what backward says
  double numeric = 0;         ///< what the central difference says
  std::int64_t kinks = 0;     ///< elements not compared, in all orders: f has no derivative there
  std::string kink = {};      ///< where the first of them is
  std::string text = {};      ///< set if the check could not be made

  /// One line: verdict, and the worst element with its index and both values.
  std::string message() const;

  explicit operator bool() const { return ok; }
  template <class Result>
  requires(std::constructible_from<Result, bool> && !std::is_arithmetic_v<Result> &&
           requires(Result r, std::string s) { r << s; })
  operator Result() const {
    Result result(ok);
    result << message();
    return result;
  }
};

/// Compares the gradients of `f` with central differences, in every element of every input that is
/// given. The output is contracted with a random cotangent (never summed: a softmax row sums to 1
/// and would test nothing). Order 2 does the same to that gradient, as a function of the inputs and
/// the cotangent, contracted with random directions. Inputs must be f64; those given are not
/// changed. An `f` that draws random numbers must make its generator anew in each call. Throws
/// DTypeError for f32: differences of singles say nothing about a gradient.
///
/// An element that is off is at a kink (relu at 0), not wrong, if its gradient is between two
/// slopes to its left and right that stay apart however small the step; all kinks and nothing else
/// is a failure. Outputs should be of a moderate size: differences of large ones are noise.
GradcheckResult gradcheck(const std::function<Tensor(const std::vector<Tensor>&)>& f,
                          const std::vector<Tensor>& inputs, GradcheckOptions options = {});

namespace detail {
/// The same, with names for messages in place of "input 0", ...
GradcheckResult gradcheck(const std::function<Tensor(const std::vector<Tensor>&)>& f,
                          const std::vector<Tensor>& inputs, const std::vector<std::string>& names,
                          GradcheckOptions options);
}  // namespace detail

}  // namespace heed
