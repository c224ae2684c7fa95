#include <heed/autograd/error.h>
#include <heed/autograd/grad_mode.h>
#include <heed/autograd/ops/arithmetic.h>
#include <heed/autograd/ops/matmul.h>
#include <heed/autograd/ops/reduce.h>
#include <heed/train/optimizers/adam.h>
#include <heed/train/optimizers/muon.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace heed {
namespace {

constexpr double kTiny = 1e-7;  // keeps the length of a zero gradient from dividing by 0

double length_of_update(MuonScale scale, double inputs, double outputs) {
  if (scale == MuonScale::original) return std::sqrt(std::max(1., outputs / inputs));
  return 0.2 * std::sqrt(std::max(inputs, outputs));
}

template <class T>
void remember(std::span<T> mean, std::span<const T> gradient, T keep) {
  for (std::size_t i = 0; i < mean.size(); ++i) mean[i] = keep * mean[i] + (1 - keep) * gradient[i];
}

template <class T>
void step_along(std::span<T> parameter, std::span<const T> direction, T rate, T shrink) {
  for (std::size_t i = 0; i < parameter.size(); ++i)
    parameter[i] = shrink * parameter[i] - rate * direction[i];
}

}  // namespace

bool hidden_matrices(const NamedTensor& parameter) {
  const std::string& name = parameter.name;
  const bool head = name.starts_with("head.") || name.find(".head.") != std::string::npos;
  return parameter.value.ndim() == 2 && !head && name.find("embedding") == std::string::npos;
}

Tensor newton_schulz(const Tensor& x, std::int64_t iterations) {
  const NoGrad quiet;
  const bool tall = x.dim(0) > x.dim(1);  // then A = Xᵀ X, which is the smaller one
  Tensor y = x / (norm(x) + kTiny);
  for (std::int64_t i = 0; i < iterations; ++i) {
    const Tensor a = matmul(y, y, {.transpose_a = tall, .transpose_b = !tall});
    const Tensor b = -4.7750 * a + 2.0315 * matmul(a, a);
    y = 3.4445 * y + (tall ? matmul(y, b) : matmul(b, y));
  }
  return y;
}

Muon::Muon(Parameters parameters, MuonOptions options)
    : Optimizer("muon", std::move(parameters),
                {options.lr, options.weight_decay, options.decays, options.groups},
                [&](const NamedTensor& parameter) -> std::vector<std::string> {
                  if (!options.matrices) throw ValueError("muon: matrices is an empty function");
                  if (!options.matrices(parameter)) return {"exp_avg", "exp_avg_sq"};
                  if (parameter.value.ndim() == 2) return {"momentum"};
                  throw ValueError(text("muon: ", parameter.name, " of shape ",
                                        parameter.value.shape(), " is no matrix"));
                }),
      options_(std::move(options)) {
  check_range("momentum", options_.momentum, 0, 1);
  check_range("iterations", static_cast<double>(options_.iterations), 1, 1000);
  check_range("beta1", options_.beta1, 0, 1);
  check_range("beta2", options_.beta2, 0, 1);
  check_range("eps", options_.eps, 0, std::numeric_limits<double>::infinity());
}

void Muon::update(Slot& slot, const Tensor& gradient) {
  if (slot.moments.size() == 1) return follow_orthogonal(slot, gradient);
  const detail::AdamStep step{.lr = rate(slot),
                              .beta1 = options_.beta1,
                              .beta2 = options_.beta2,
                              .eps = options_.eps,
                              .shrink = slot.decay,
                              .t = slot.steps.item()};
  step(slot.value, gradient, slot.moments[0], slot.moments[1]);
}

void Muon::follow_orthogonal(Slot& slot, const Tensor& gradient) const {
  const NoGrad quiet;
  Tensor& mean = slot.moments[0];
  dispatch(mean.dtype(), [&](auto zero) {
    using T = decltype(zero);
    remember(mean.mutate<T>(), gradient.data<T>(), static_cast<T>(options_.momentum));
  });
  const Tensor ahead =
      options_.nesterov ? (1 - options_.momentum) * gradient + options_.momentum * mean : mean;
  const Tensor direction = newton_schulz(ahead, options_.iterations);
  const double scale =
      length_of_update(options_.scale, static_cast<double>(slot.value.dim(0)),
                       static_cast<double>(slot.value.dim(1)));  // a Linear's weight is (in, out)
  dispatch(slot.value.dtype(), [&](auto zero) {
    using T = decltype(zero);
    step_along(slot.value.mutate<T>(), direction.data<T>(), static_cast<T>(rate(slot) * scale),
               static_cast<T>(1 - rate(slot) * slot.decay));
  });
}

}  // namespace heed
