#pragma once

#include <heed/autograd/kernels/vector/product.h>

namespace heed::kernels {
namespace {

template <class T>
constexpr VectorKernels<T> kKernels{
    .panel = kPanel<T>,
    .width = kWidth<T>,
    .tile_rows = kTileRows,
    .pack = pack<T>,
    .multiply_packed = multiply_packed<T>,
};

}  // namespace
}  // namespace heed::kernels
