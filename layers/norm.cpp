#include <heed/autograd/ops/norm.h>
#include <heed/layers/norm.h>

namespace heed {

LayerNorm::LayerNorm(std::int64_t d, LayerNormOptions options)
    : weight(ones({d}).requires_grad_()), bias(zeros({d}).requires_grad_()), eps(options.eps) {}

Tensor LayerNorm::operator()(const Tensor& x) const { return layer_norm(x, weight, bias, eps); }

void LayerNorm::visit(Visitor& v) {
  v("weight", weight);
  v("bias", bias);
}

}  // namespace heed
