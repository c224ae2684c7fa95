#pragma once

#include <heed/autograd/ops/arithmetic.h>
#include <heed/layers/dropout.h>
#include <heed/layers/norm.h>

namespace heed {

/// x with what `part` makes of it added, and the norm where it belongs: x + drop(part(norm(x))), or
/// norm(x + drop(part(x))). A norm that is off is the identity in either.
template <class Part>
Tensor add_part(const Tensor& x, const Norm& norm, NormPlace place, const Dropout& drop,
                const Part& part) {
  if (place == NormPlace::post) return norm(x + drop(part(x)));
  return x + drop(part(norm(x)));
}

}  // namespace heed
