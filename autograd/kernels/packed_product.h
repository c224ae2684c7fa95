#pragma once

#include <heed/autograd/memory.h>

#include <Eigen/Core>
#include <cstddef>
#include <type_traits>

namespace heed::kernels {

/// Eigen's choice of blocks for a product, and the buffers into which it packs them. Eigen asks the
/// system for large ones in every product; these come from the cache.
template <class T>
class Panels : public Eigen::internal::level3_blocking<T, T> {
 public:
  Panels(Eigen::Index rows, Eigen::Index columns, Eigen::Index depth) {
    this->m_mc = rows;
    this->m_nc = columns;
    this->m_kc = depth;
    Eigen::internal::computeProductBlockingSizes<T, T, 1>(this->m_kc, this->m_mc, this->m_nc,
                                                          Eigen::Index{1});
    this->m_blockA = static_cast<T*>(allocate(bytes(this->m_mc)));
    this->m_blockB = static_cast<T*>(allocate(bytes(this->m_nc)));
  }
  ~Panels() {
    release(this->m_blockA, bytes(this->m_mc));
    release(this->m_blockB, bytes(this->m_nc));
  }
  Panels(const Panels&) = delete;
  Panels& operator=(const Panels&) = delete;

 private:
  std::size_t bytes(Eigen::Index side) const {
    return static_cast<std::size_t>(side * this->m_kc) * sizeof(T);
  }
};

/// c += a b, for a row-major c.
template <class A, class B, class C>
void add_packed_product(const A& a, const B& b, C& c) {
  using T = typename C::Scalar;
  constexpr auto order = [](auto flags) {
    return flags & Eigen::RowMajorBit ? Eigen::RowMajor : Eigen::ColMajor;
  };
  Panels<T> panels(b.cols(), a.rows(), a.cols());  // a row-major c is the transpose of bᵀ aᵀ
  Eigen::internal::general_matrix_matrix_product<Eigen::Index, T, order(A::Flags), false, T,
                                                 order(B::Flags), false, Eigen::RowMajor,
                                                 1>::run(a.rows(), b.cols(), a.cols(), a.data(),
                                                         a.outerStride(), b.data(), b.outerStride(),
                                                         c.data(), 1, c.outerStride(), T(1),
                                                         panels);
}

}  // namespace heed::kernels
