#include <heed/autograd/error.h>
#include <heed/layers/choice.h>
#include <heed/train/schedule.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace heed {
std::string_view name(Decay decay) {
  return detail::name_among("schedule", decay,
                            {"constant", "linear", "cosine", "wsd", "step", "noam"});
}

Decay decay_named(std::string_view wanted) { return named("schedule", wanted, kDecays); }

double Schedule::at(std::int64_t step) const {
  if (step < warmup)
    return lr * (static_cast<double>(step) + 1) / (static_cast<double>(warmup) + 1);
  if (decay == Decay::constant) return lr;
  if (decay == Decay::noam) {
    const double since = (static_cast<double>(step) + 1) / (static_cast<double>(warmup) + 1);
    return std::max(min_lr, lr / std::sqrt(since));
  }
  const std::int64_t each = period > 0 ? period : std::max<std::int64_t>((end - warmup) / 5, 1);
  if (decay == Decay::step) {
    const auto falls = static_cast<double>((step - warmup) / each);
    return std::max(min_lr, lr * std::pow(factor, falls));
  }
  if (step >= end) return min_lr;
  const std::int64_t start = decay == Decay::wsd ? std::max(warmup, end - each) : warmup;
  if (step < start) return lr;
  const double done = static_cast<double>(step - start) / static_cast<double>(end - start);
  const double left =
      decay == Decay::cosine ? (1 + std::cos(std::numbers::pi * done)) / 2 : 1 - done;
  return min_lr + (lr - min_lr) * left;
}

void validate(const Schedule& schedule) {
  const auto& [decay, lr, min_lr, warmup, end, period, factor] = schedule;
  if (!(std::isfinite(lr) && lr >= 0))
    throw ValueError(text("schedule: lr = ", lr, " is not a finite number of at least 0"));
  if (!(min_lr >= 0 && min_lr <= lr))
    throw ValueError(text("schedule: min_lr = ", min_lr, " is not between 0 and lr = ", lr));
  if (warmup < 0) throw ValueError(text("schedule: warmup = ", warmup, " is negative"));
  if (end < 0) throw ValueError(text("schedule: end = ", end, " is negative"));
  if (period < 0) throw ValueError(text("schedule: period = ", period, " is negative"));
  if (!(factor > 0 && factor <= 1))
    throw ValueError(text("schedule: factor = ", factor, " is not above 0 and at most 1"));
}

}  // namespace heed
