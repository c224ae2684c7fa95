#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace heed {

/// How the learning rate goes from its peak to its floor, once it is warm.
enum class Decay {
  constant,
  linear,
  cosine,  ///< half a wave (Loshchilov and Hutter, arXiv:1608.03983, without restarts)
  wsd,     ///< warm-up, stable, decay: a line over the last `period` steps (Hägele et al.,
           ///< arXiv:2405.18392)
  step,    ///< times `factor` after every `period` steps
  noam     ///< as one over the root of the step (Vaswani et al., arXiv:1706.03762, section 5.3)
};
inline constexpr std::array kDecays{Decay::constant, Decay::linear, Decay::cosine,
                                    Decay::wsd,      Decay::step,   Decay::noam};
std::string_view name(Decay decay);
/// The decay of that name. Throws ValueError, listing them, if there is none.
Decay decay_named(std::string_view name);

/// A learning rate that climbs to `lr` in `warmup` steps and then falls. It never falls below
/// `min_lr`; a linear one, a cosine and wsd reach it at step `end` and never leave it.
struct Schedule {
  Decay decay = Decay::constant;
  double lr = 1e-3;
  double min_lr = 0;
  std::int64_t warmup = 0;
  std::int64_t end = 0;
  std::int64_t period = 0;  ///< steps, of wsd and step; a fifth of those after the warm-up if 0
  double factor = 0.1;      ///< what step leaves of lr each time

  /// The learning rate of the update number `step`, counted from 0. The warm-up's are 1/(warmup +
  /// 1), 2/(warmup + 1), ... of lr, so that step 0 already learns. Finite for every length.
  ///
  /// noam gives d^-0.5 min(s^-0.5, s w^-1.5) of the paper, where s = step + 1, w = warmup + 1 and
  /// lr = (d w)^-0.5.
  double at(std::int64_t step) const;
};

/// Throws ValueError naming the field unless 0 <= min_lr <= lr < infinity, warmup, end and period
/// are not negative, and 0 < factor <= 1.
void validate(const Schedule& schedule);

}  // namespace heed
