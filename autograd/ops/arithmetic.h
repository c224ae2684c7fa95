#pragma once

#include <heed/autograd/tensor.h>

/// Arithmetic. Two tensors broadcast by NumPy's rule (ShapeError names both shapes) and must
/// have one dtype (DTypeError); a double is taken in the tensor's own. Where a gradient has to
/// choose (a mask, a kink), it selects and never multiplies by zero, so an infinite gradient stays
/// on its side.
namespace heed {

Tensor operator+(const Tensor& a, const Tensor& b);
Tensor operator+(const Tensor& a, double b);
Tensor operator+(double a, const Tensor& b);
Tensor operator-(const Tensor& a, const Tensor& b);
Tensor operator-(const Tensor& a, double b);
Tensor operator-(double a, const Tensor& b);
Tensor operator*(const Tensor& a, const Tensor& b);
Tensor operator*(const Tensor& a, double b);
Tensor operator*(double a, const Tensor& b);
Tensor operator/(const Tensor& a, const Tensor& b);
Tensor operator/(const Tensor& a, double b);
Tensor operator/(double a, const Tensor& b);
Tensor operator-(const Tensor& x);
Tensor neg(const Tensor& x);

/// sum += x, in the buffer of one of them if nobody else holds it and nothing is being recorded.
/// Same shape and dtype.
void add_into(Tensor& sum, Tensor x);

}  // namespace heed
