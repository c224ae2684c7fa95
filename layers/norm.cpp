#include <heed/autograd/ops/norm.h>
#include <heed/layers/choice.h>
#include <heed/layers/norm.h>

namespace heed {

LayerNorm::LayerNorm(std::int64_t d, LayerNormOptions options)
    : weight(ones({d}).requires_grad_()), bias(zeros({d}).requires_grad_()), eps(options.eps) {}

Tensor LayerNorm::operator()(const Tensor& x) const { return layer_norm(x, weight, bias, eps); }

void LayerNorm::visit(Visitor& v) {
  v("weight", weight);
  v("bias", bias);
}

RmsNorm::RmsNorm(std::int64_t d, RmsNormOptions options)
    : weight(ones({d}).requires_grad_()), eps(options.eps) {}

Tensor RmsNorm::operator()(const Tensor& x) const { return rms_norm(x, weight, eps); }

void RmsNorm::visit(Visitor& v) { v("weight", weight); }

std::string_view name(NormKind kind) {
  return detail::name_among("norm_kind", kind, {"layer", "rms"});
}

std::string_view name(NormPlace place) {
  return detail::name_among("norm", place, {"pre", "post", "none"});
}

Norm::Norm(std::int64_t d, NormOptions settings) : options(settings) {
  if (options.off) return;
  weight = ones({d}).requires_grad_();
  if (options.kind == NormKind::layer) bias = zeros({d}).requires_grad_();
}

Tensor Norm::operator()(const Tensor& x) const {
  if (options.off) return x;
  if (options.kind == NormKind::rms) return rms_norm(x, weight, options.eps);
  return layer_norm(x, weight, bias, options.eps);
}

void Norm::visit(Visitor& v) {
  v("weight", weight);
  v("bias", bias);
}

}  // namespace heed
