#pragma once

#include <heed/autograd/kernels/vector/attention.h>
#include <heed/autograd/kernels/vector/elementwise.h>
#include <heed/autograd/kernels/vector/layer_norm.h>
#include <heed/autograd/kernels/vector/pack.h>
#include <heed/autograd/kernels/vector/product.h>
#include <heed/autograd/kernels/vector/rows.h>

namespace heed::kernels {
namespace {

template <class T>
constexpr VectorKernels<T> kKernels{
    .panel = kPanel<T>,
    .width = kWidth<T>,
    .tile_rows = kTileRows,
    .pack = pack<T>,
    .multiply_packed = multiply_packed<T>,

    .exp = map<T, exp<T>>,
    .tanh = map<T, tanh<T>>,
    .sigmoid = map<T, sigmoid<T>>,
    .erf = map<T, erf<T>>,
    .normal_cdf = map<T, normal_cdf<T>>,
    .gelu = map<T, gelu<T>>,
    .gelu_tanh = map<T, gelu_tanh<T>>,
    .silu = map<T, silu<T>>,
    .gelu_backward = map_backward<T, gelu_slope<T>>,
    .gelu_tanh_backward = map_backward<T, gelu_tanh_slope<T>>,
    .silu_backward = map_backward<T, silu_slope<T>>,

    .sum = sum<T>,
    .sum_of_squares = sum_of_squares<T>,
    .largest = largest<T>,
    .add_rows = add_rows<T>,

    .softmax = softmax<T>,
    .log_softmax = log_softmax<T>,
    .softmax_backward = softmax_backward<T>,
    .log_softmax_backward = log_softmax_backward<T>,
    .exp_sums = exp_sums<T>,
    .exp_row = exp_row<T>,

    .layer_norm = layer_norm<T>,
    .layer_norm_backward = layer_norm_backward<T>,

    .attend = attend<T>,
    .attend_backward = attend_backward<T>,
};

}  // namespace
}  // namespace heed::kernels
