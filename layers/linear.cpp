#include <heed/autograd/ops/matmul.h>
#include <heed/layers/linear.h>

#include <cmath>

namespace heed {

Linear::Linear(std::int64_t in, std::int64_t out, Rng& rng, LinearOptions options)
    : weight(normal({in, out}, rng, 0, 1 / std::sqrt(static_cast<double>(in))).requires_grad_()) {
  if (options.bias) bias = zeros({out}).requires_grad_();
}

Tensor Linear::operator()(const Tensor& x) const { return linear(x, weight, bias); }

void Linear::visit(Visitor& v) {
  v("weight", weight);
  v("bias", bias);
}

}  // namespace heed
