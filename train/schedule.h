#pragma once

#include <cstdint>
#include <string_view>

namespace heed {

/// How the learning rate goes from its peak to its floor.
enum class Decay { constant, linear, cosine };
std::string_view name(Decay decay);
/// The decay of that name. Throws ValueError, listing them, if there is none.
Decay decay_named(std::string_view name);

/// A learning rate that climbs to `lr` in `warmup` steps, then falls to `min_lr`, which it reaches
/// at step `end` and never leaves (Loshchilov and Hutter, arXiv:1608.03983, without restarts).
struct Schedule {
  Decay decay = Decay::constant;
  double lr = 1e-3;
  double min_lr = 0;
  std::int64_t warmup = 0;
  std::int64_t end = 0;

  /// The learning rate of the update number `step`, counted from 0. The warm-up's are 1/(warmup +
  /// 1), 2/(warmup + 1), ... of lr, so that step 0 already learns. Finite for every length.
  double at(std::int64_t step) const;
};

/// Throws ValueError naming the field unless 0 <= min_lr <= lr < infinity, warmup >= 0, end >= 0.
void validate(const Schedule& schedule);

}  // namespace heed
