#pragma once

// An op whose gradient is wrong, for those that have to notice.

#include <heed/autograd/autograd.h>
#include <heed/tests/gradients/checks.h>

#include <string>
#include <utility>
#include <vector>

namespace heed::checks {

/// A subject in the place of an op of one tensor, with one variant, "wrong".
inline Subject subject_of(const std::string& op,
                          std::function<Tensor(const op_table::List&)> call) {
  op_table::Row row;
  row.declaration = op + "(Tensor)";
  row.variants = {{"wrong", {{.shape = {3}}}, std::move(call), nullptr}};
  row.about.op = op;
  return op_subjects({row}).front();
}

/// y = tanh(x), with a slope that is too large by a thousandth.
struct WrongTanh {
  static constexpr std::string_view name = "wrong_tanh";
  static constexpr Saves saves = Saves::output;
  Tensor forward(const Tensor& x) const { return tanh(x); }
  Grads backward(const Context& ctx, const Tensor& g) const {
    return {1.001 * g * (1.0 - square(ctx.output()))};
  }
};

inline std::vector<Subject> wrong_op() {
  return {subject_of("tanh", [](const auto& x) { return apply(WrongTanh{}, x[0]); }),
          subject_of("exp", [](const auto& x) { return exp(x[0]); })};
}

}  // namespace heed::checks
