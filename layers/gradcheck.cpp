#include <heed/autograd/grad_mode.h>
#include <heed/autograd/observe.h>
#include <heed/autograd/ops/arithmetic.h>
#include <heed/autograd/rng.h>
#include <heed/autograd/scoped.h>
#include <heed/layers/gradcheck.h>

namespace heed::detail {
GradcheckResult gradcheck_layer(
    const std::function<Tensor(const std::vector<Tensor>&, const std::vector<Tensor>&)>& f,
    const std::vector<Tensor>& inputs, const Parameters& own, GradcheckOptions options) {
  // What is checked is a copy, which no recorder alive has been told of.
  const Scoped<Observer*> unobserved(observer, nullptr);
  std::vector<Tensor> all = inputs;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < inputs.size(); ++i) names.push_back(text("input ", i));
  Rng rng(options.seed + 1);
  for (const NamedTensor& parameter : own) {
    const NoGrad quiet;
    all.push_back(parameter.value + normal(parameter.value.shape(), rng, 0, 0.3, f64));
    names.push_back(parameter.name);
  }
  const auto border = static_cast<std::ptrdiff_t>(inputs.size());
  return gradcheck(
      [&](const std::vector<Tensor>& xs) {
        return f({xs.begin(), xs.begin() + border}, {xs.begin() + border, xs.end()});
      },
      all, names, options);
}

}  // namespace heed::detail
