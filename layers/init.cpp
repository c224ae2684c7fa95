#include <heed/layers/init.h>

namespace heed {

void normal_(Tensor& x, Rng& rng, double mean, double std) {
  dispatch(x.dtype(), [&](auto t) {
    using T = decltype(t);
    for (T& value : x.mutate<T>()) value = static_cast<T>(mean + std * rng.normal());
  });
}

void scale_(Tensor& x, double factor) {
  dispatch(x.dtype(), [&](auto t) {
    using T = decltype(t);
    for (T& value : x.mutate<T>()) value = static_cast<T>(value * factor);
  });
}

}  // namespace heed
