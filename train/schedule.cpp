#include <heed/autograd/error.h>
#include <heed/train/schedule.h>

#include <cmath>
#include <numbers>

namespace heed {

std::string_view name(Decay decay) {
  switch (decay) {
    case Decay::constant:
      return "constant";
    case Decay::linear:
      return "linear";
    case Decay::cosine:
      return "cosine";
  }
  return "";
}

Decay decay_named(std::string_view wanted) {
  for (Decay decay : {Decay::constant, Decay::linear, Decay::cosine})
    if (name(decay) == wanted) return decay;
  throw ValueError(text("schedule: \"", wanted, "\" is none of constant, linear, cosine"));
}

double Schedule::at(std::int64_t step) const {
  if (step < warmup)
    return lr * (static_cast<double>(step) + 1) / (static_cast<double>(warmup) + 1);
  if (decay == Decay::constant) return lr;
  if (step >= end) return min_lr;
  const double done = static_cast<double>(step - warmup) / static_cast<double>(end - warmup);
  const double left =
      decay == Decay::linear ? 1 - done : (1 + std::cos(std::numbers::pi * done)) / 2;
  return min_lr + (lr - min_lr) * left;
}

void validate(const Schedule& schedule) {
  const auto& [decay, lr, min_lr, warmup, end] = schedule;
  if (!(std::isfinite(lr) && lr >= 0))
    throw ValueError(text("schedule: lr = ", lr, " is not a finite number of at least 0"));
  if (!(min_lr >= 0 && min_lr <= lr))
    throw ValueError(text("schedule: min_lr = ", min_lr, " is not between 0 and lr = ", lr));
  if (warmup < 0) throw ValueError(text("schedule: warmup = ", warmup, " is negative"));
  if (end < 0) throw ValueError(text("schedule: end = ", end, " is negative"));
}

}  // namespace heed
