#pragma once

#include <heed/layers/visitor.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// Says something of a parameter, by its name or shape.
using ParameterRule = std::function<bool(const NamedTensor&)>;

/// Says of each parameter whether weight decay reaches it.
using DecayRule = ParameterRule;
/// Those with two or more axes: weights and embeddings, but no bias and no norm.
bool decay_matrices(const NamedTensor& parameter);
/// The same without what has "embedding" in its name.
bool decay_weights(const NamedTensor& parameter);
bool decay_all(const NamedTensor& parameter);

/// Parameters that are treated apart from the others.
struct ParameterGroup {
  ParameterRule holds;  ///< which they are; a parameter belongs to the first group that holds it
  double lr = 1;        ///< times the optimizer's
  std::optional<double> weight_decay = {};  ///< instead of the optimizer's, whatever its rule says
  std::string pattern = {};                 ///< for messages: how `holds` was written; may be empty
};
using ParameterGroups = std::vector<ParameterGroup>;

/// What every optimizer is told.
struct OptimizerOptions {
  double lr = 1e-3;
  double weight_decay = 0;
  DecayRule decays = decay_matrices;
  ParameterGroups groups = {};
};

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
    double decay = 0;               // weight decay, 0 if the rule spares this parameter
    double factor = 1;              // of lr, by its group
    Tensor steps;                   // updates so far, one f64
    std::vector<std::string> kept;  // what is remembered of it,
    std::vector<Tensor> moments;    // and its values, of the parameter's shape and dtype
  };
  /// What to remember of a parameter: the names of running averages, which start at 0.
  using Kept = std::function<std::vector<std::string>(const NamedTensor&)>;

  /// A parameter listed twice counts once. Throws GraphError for a constant or the output of an op,
  /// and if two of them share their values but not their gradient, and ValueError for a bad lr or
  /// weight_decay, an empty rule, and a group to which no parameter belongs.
  Optimizer(std::string_view name, Parameters parameters, const OptimizerOptions& options,
            const Kept& kept);
  /// The same for all parameters.
  Optimizer(std::string_view name, Parameters parameters, const OptimizerOptions& options,
            const std::vector<std::string>& kept);
  /// The learning rate of a parameter.
  double rate(const Slot& slot) const { return lr_ * slot.factor; }
  /// Throws ValueError naming `option` unless low <= value < high.
  void check_range(std::string_view option, double value, double low, double high) const;

 private:
  void check_options(const OptimizerOptions& options) const;
  /// Throws ValueError for the first group that is no parameter's own.
  void check_owners(const ParameterGroups& groups, const std::vector<bool>& owns) const;
  virtual void update(Slot& slot, const Tensor& gradient) = 0;

  std::string name_;
  Parameters parameters_;
  double lr_;
  std::vector<Slot> slots_;
};

}  // namespace heed
