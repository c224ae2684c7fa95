#include <heed/autograd/apply.h>
#include <heed/autograd/engine.h>

namespace heed::detail {
namespace {

struct Alias {
  static constexpr std::string_view name = "alias";
  static constexpr Saves saves = Saves::none;
  Tensor forward(const Tensor& x) const { return x; }
  Grads backward(const Context&, const Tensor& g) const { return {g}; }
};

}  // namespace

Tensor alias(const Tensor& x) { return x.requires_grad() ? apply(Alias{}, x) : x; }

Grads differentiate(const Tensor& y, std::span<const Tensor> inputs, const Tensor& g) {
  std::vector<Tensor> asked;
  for (const Tensor& input : inputs)
    if (input.requires_grad()) asked.push_back(input);
  const std::vector<Tensor> found = grad(y, asked, {.create_graph = true, .seed = g});
  Grads grads(inputs.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].requires_grad()) grads[i] = found[next++];
  return grads;
}

void refuse_undefined(std::string_view op) {
  throw GraphError(text(op, ": forward gives an undefined tensor"));
}

void refuse_released(std::string_view op) {
  throw GraphError(text(op,
                        ": its saved tensors were released by an earlier backward; pass "
                        "{.retain_graph = true} to that one to differentiate twice"));
}

}  // namespace heed::detail
