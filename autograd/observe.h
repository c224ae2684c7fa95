#pragma once

#include <heed/autograd/error.h>
#include <heed/autograd/tensor.h>

#include <concepts>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace heed {

class Observer;

namespace detail {
inline thread_local Observer* observer = nullptr;  // the innermost one alive on this thread
}

/// Someone who looks at what layers compute; see Recorder.
class Observer {
 public:
  /// Whether this observer wants what the layer at `address`, of type `type`, shows as `name`.
  virtual bool wants(const void* address, const std::type_info& type, std::string_view name) = 0;
  /// Whether it will replace what it is shown, so that the layer has to compute with the result.
  virtual bool replaces(const void* address, const std::type_info& type, std::string_view name) = 0;
  /// Shows it the value; returns the value to go on with.
  virtual Tensor see(const void* address, const std::type_info& type, std::string_view name,
                     const Tensor& value) = 0;

 protected:
  ~Observer() = default;
  /// From here on it is the innermost one, until `end`; observers may end in any order.
  void begin() { outer_ = std::exchange(detail::observer, this); }
  void end() {
    Observer** at = &detail::observer;
    while (*at && *at != this) at = &(*at)->outer_;
    if (*at) *at = outer_;
  }
  Observer* outer() const { return outer_; }

 private:
  Observer* outer_ = nullptr;
};

/// Shows `value`, which `layer` calls `name`, to the observer on this thread, if there is one, and
/// returns the value to go on with.
template <class Layer>
Tensor observe(const Layer& layer, std::string_view name, const Tensor& value) {
  Observer* observer = detail::observer;
  if (!observer || !observer->wants(&layer, typeid(Layer), name)) return value;
  return observer->see(&layer, typeid(Layer), name, value);
}

/// The same for a value that the layer does not otherwise compute: `compute()` is called only if
/// somebody looks. Throws GraphError if somebody would replace the value, which has no effect here:
/// the layer has to ask `intervened`.
template <class Layer, std::invocable Compute>
requires std::convertible_to<std::invoke_result_t<Compute>, Tensor>
void observe(const Layer& layer, std::string_view name, Compute&& compute) {
  Observer* observer = detail::observer;
  if (!observer || !observer->wants(&layer, typeid(Layer), name)) return;
  if (observer->replaces(&layer, typeid(Layer), name))
    throw GraphError(
        text("observe: \"", name,
             "\" is only shown here, so replacing it would change nothing; the layer has to take "
             "another path where intervened(layer, name)"));
  observer->see(&layer, typeid(Layer), name, compute());
}

/// Whether someone will replace what `layer` calls `name`: the layer then takes the path on which
/// that value is really used.
template <class Layer>
bool intervened(const Layer& layer, std::string_view name) {
  Observer* observer = detail::observer;
  return observer && observer->replaces(&layer, typeid(Layer), name);
}

}  // namespace heed
