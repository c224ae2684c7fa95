#include <heed/autograd/apply.h>
#include <heed/autograd/tensor.h>

#include <algorithm>

namespace heed {
namespace ops {

struct Clone {
  static constexpr std::string_view name = "clone";
  static constexpr Saves saves = Saves::none;
  Tensor forward(const Tensor& x) const {
    Tensor y = empty(x.shape(), x.dtype());
    dispatch(x.dtype(), [&](auto t) {
      std::ranges::copy(x.data<decltype(t)>(), y.mutate<decltype(t)>().begin());
    });
    return y;
  }
  Grads backward(const Context&, const Tensor& g) const { return {g}; }
};

struct Cast {
  static constexpr std::string_view name = "to";
  static constexpr Saves saves = Saves::none;
  DType from, to;
  Tensor forward(const Tensor& x) const {
    Tensor y = empty(x.shape(), to);
    dispatch(from, [&](auto s) {
      dispatch(to, [&](auto t) {
        std::ranges::transform(x.data<decltype(s)>(), y.mutate<decltype(t)>().begin(),
                               [](auto v) { return static_cast<decltype(t)>(v); });
      });
    });
    return y;
  }
  Grads backward(const Context&, const Tensor& g) const { return {g.to(from)}; }
};

}  // namespace ops

Tensor Tensor::clone() const { return apply(ops::Clone{}, *this); }
Tensor Tensor::to(DType dtype) const {
  return dtype == this->dtype() ? *this : apply(ops::Cast{this->dtype(), dtype}, *this);
}

}  // namespace heed
