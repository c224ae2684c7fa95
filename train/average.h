#pragma once

#include <heed/layers/visitor.h>

#include <cstdint>

namespace heed {

/// A running average of parameters, kept beside them: after each step it keeps `decay` of what it
/// was and takes the rest from the parameters. It is corrected for its start (Kingma and Ba,
/// arXiv:1412.6980, section 7.2): after the first step it is the parameters, and early on it
/// forgets faster.
class WeightAverage {
 public:
  /// Throws ValueError unless 0 <= decay < 1.
  WeightAverage(Parameters parameters, double decay);

  /// Takes in the parameters as they are now.
  void update();
  /// Exchanges the average and the parameters; before the first update they are the same.
  void swap();

  /// All there is to restore, as `<parameter>.average`, and the number of updates: the tensors
  /// themselves.
  Parameters state() const;

 private:
  Parameters parameters_;
  double decay_;
  Tensor updates_;  // one f64
  std::vector<Tensor> averages_;
};

/// While it lives, the parameters are their average.
class Averaged {
 public:
  /// Does nothing without an average.
  explicit Averaged(WeightAverage* average) : average_(average) {
    if (average_) average_->swap();
  }
  ~Averaged() {
    if (average_) average_->swap();
  }
  Averaged(const Averaged&) = delete;
  Averaged& operator=(const Averaged&) = delete;

 private:
  WeightAverage* average_;
};

}  // namespace heed
