#include <heed/autograd/ops/index.h>
#include <heed/layers/embedding.h>

namespace heed {

Embedding::Embedding(std::int64_t n, std::int64_t d, Rng& rng)
    : weight(normal({n, d}, rng).requires_grad_()) {}

Tensor Embedding::operator()(const Tokens& tokens) const { return embedding(weight, tokens); }

void Embedding::visit(Visitor& v) { v("weight", weight); }

}  // namespace heed
