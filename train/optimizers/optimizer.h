#pragma once

#include <heed/layers/visitor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// Says of each parameter whether weight decay reaches it.
using DecayRule = std::function<bool(const NamedTensor&)>;
/// Those with two or more axes: weights and embeddings, but no bias and no norm.
bool decay_matrices(const NamedTensor& parameter);
bool decay_all(const NamedTensor& parameter);

/// Changes parameters by their gradients. One that has collected no gradient stays as it is, and so
/// does what is remembered of it.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// Updates every parameter that has a gradient, in place.
  void step();
  /// Forgets all gradients.
  void zero_grad();

  double lr() const { return lr_; }
  /// Throws ValueError unless finite and not negative.
  void set_lr(double lr);

  /// What is optimized, each storage once.
  const Parameters& parameters() const { return parameters_; }
  /// All that is remembered from step to step, as `<parameter>.<what>`: the tensors themselves, so
  /// that writing into them restores a state.
  Parameters state() const;

 protected:
  struct Slot {
    Tensor value;
    double decay = 0;             // weight decay, 0 if the rule spares this parameter
    Tensor steps;                 // updates so far, one f64
    std::vector<Tensor> moments;  // of the value's shape and dtype
  };

  /// `moments` names the running averages to keep of each parameter; they start at 0. A parameter
  /// listed twice counts once. Throws GraphError for a constant or the output of an op, and if two
  /// of them share their values but not their gradient, and ValueError for a bad lr or
  /// weight_decay.
  Optimizer(std::string_view name, Parameters parameters, double lr, double weight_decay,
            const DecayRule& decays, std::vector<std::string> moments);
  /// Throws ValueError naming `option` unless low <= value < high.
  void check_range(std::string_view option, double value, double low, double high) const;

 private:
  virtual void update(Slot& slot, const Tensor& gradient) = 0;

  std::string name_;
  Parameters parameters_;
  double lr_;
  std::vector<std::string> moments_;
  std::vector<Slot> slots_;
};

}  // namespace heed
