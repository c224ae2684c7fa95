#pragma once

#include <heed/autograd/kernels/vector_kernels.h>

#include <vector>

namespace heed::kernels {

/// The instruction sets up to that in use, which is the best one unless HEED_ISA names another.
inline std::vector<Isa> isas() {
  std::vector<Isa> all;
  for (const Isa each : {Isa::base, Isa::avx2, Isa::avx512})
    if (each <= isa()) all.push_back(each);
  return all;
}

}  // namespace heed::kernels
