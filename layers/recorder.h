#pragma once

#include <heed/autograd/observe.h>
#include <heed/layers/visitor.h>

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <typeindex>
#include <utility>
#include <vector>

namespace heed {

/// While it lives, collects what the layers of a model show with `observe` on this thread, under
/// the layer's path and the name it is shown by:
///
///     Recorder recorder(model);
///     model(tokens);
///     Tensor a = recorder.at("blocks.0.attention.weights");  // (B, H, T, T)
///
/// Recording changes no bit of what the model computes. What is recorded keeps its graph, unless
/// under NoGrad. Recorders nest: a layer is seen by the innermost one that knows it, and by no
/// other; they may end in any order. A layer that none of them knows (of another model or a copy)
/// throws GraphError.
class Recorder final : private Observer {
 public:
  using Intervention = std::function<Tensor(const Tensor&)>;

  /// The model must neither move nor die before the recorder.
  template <class Model>
  explicit Recorder(const Model& model) {
    Paths visitor(*this);
    detail::look(model, visitor);
    begin();
  }
  template <class Model>
  explicit Recorder(const Model&& model) = delete;
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// What was shown last under that name. Throws ValueError, listing the names, if nothing was.
  Tensor at(std::string_view name) const;
  /// What was recorded, in the order in which it was first shown.
  std::vector<std::string> names() const;
  /// Forgets what was recorded; interventions stay.
  void clear() { records_.clear(); }

  /// From now on the model goes on with `f(value)` where a layer shows `name`, and that is what is
  /// recorded; f must keep shape and dtype (ShapeError, DTypeError). The identity puts a value that
  /// is otherwise computed beside the output (attention weights) on the way to it, so that `grad`
  /// can ask for its gradient. Throws ValueError if the part of the name before the last dot is no
  /// layer of the model.
  void replace(std::string name, Intervention f);

 private:
  using Key =
      std::pair<const void*, std::type_index>;  // a layer and its first member share an address

  class Paths final : public Visitor {
   public:
    explicit Paths(Recorder& recorder) : recorder_(recorder) {}

   private:
    void tensor(const std::string&, Tensor&) override {}
    void layer(const std::string& path, const void* address, const std::type_info& type) override;

    Recorder& recorder_;
  };

  bool wants(const void* address, const std::type_info& type, std::string_view name) override;
  bool replaces(const void* address, const std::type_info& type, std::string_view name) override;
  Tensor see(const void* address, const std::type_info& type, std::string_view name,
             const Tensor& value) override;

  bool knows(const void* address, const std::type_info& type) const;
  /// The name for those outside. Throws GraphError if the layer is not known.
  std::string full_name(const void* address, const std::type_info& type,
                        std::string_view name) const;

  std::map<Key, std::string> paths_;
  std::map<std::string, Intervention, std::less<>> interventions_;
  mutable Parameters records_;  // what changes in a recorder that its owner holds as const
};

}  // namespace heed
