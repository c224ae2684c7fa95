#pragma once

#include <heed/autograd/tensor.h>
#include <heed/autograd/tokens_mask.h>

/// Reading by integer ids. An id outside its range throws IndexError with the id, its position and
/// the range; negative ids are never wrapped. The gradients of a row that is read twice add up.
namespace heed {

/// table (V, D) and tokens (...) to (..., D).
Tensor embedding(const Tensor& table, const Tokens& tokens);
/// The elements of x at `tokens` along an axis; tokens has as many axes as x and is no longer than
/// x along the others. The result has the shape of tokens.
Tensor gather(const Tensor& x, std::int64_t axis, const Tokens& tokens);
/// tokens (...) to (..., V): 1 at the id, 0 elsewhere.
Tensor one_hot(const Tokens& tokens, std::int64_t classes, DType dtype = f32);

}  // namespace heed
