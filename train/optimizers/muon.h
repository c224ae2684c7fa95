#pragma once

#include <heed/train/optimizers/optimizer.h>

#include <cstdint>

namespace heed {

/// How long Muon's update of a matrix is.
enum class MuonScale {
  /// 0.2 sqrt(the longer side): as long as AdamW's, so that one lr serves both (Liu et al.,
  /// arXiv:2502.16982, section 2.2).
  like_adamw,
  /// sqrt(max(1, outputs / inputs)): as it was published, with an lr near 0.02.
  original
};

/// The matrices between embeddings and head: two axes, no "embedding" in the name, and not in a
/// layer called "head".
bool hidden_matrices(const NamedTensor& parameter);

struct MuonOptions {
  double lr = 1e-3;
  double momentum = 0.95;
  bool nesterov = true;
  std::int64_t iterations = 5;  ///< of newton_schulz
  MuonScale scale = MuonScale::like_adamw;
  ParameterRule matrices = hidden_matrices;  ///< what is Muon's; the rest is AdamW's
  double beta1 = 0.9;                        ///< of AdamW
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;  ///< decoupled, for both
  DecayRule decays = decay_matrices;
  ParameterGroups groups = {};
};

/// Muon (Jordan et al. 2024, kellerjordan.github.io/posts/muon): with m the running mean of g, the
/// gradient looks ahead to (1 - momentum) g + momentum m, and the nearest matrix with orthogonal
/// rows or columns is what is followed. What is no hidden matrix is updated as by AdamW.
class Muon final : public Optimizer {
 public:
  /// Throws ValueError for an option outside its range, and if `matrices` is empty or takes what is
  /// no matrix.
  explicit Muon(Parameters parameters, MuonOptions options = {});

 private:
  void update(Slot& slot, const Tensor& gradient) override;
  void follow_orthogonal(Slot& slot, const Tensor& gradient) const;

  MuonOptions options_;
};

/// A matrix (n, m) with the singular vectors of x, and singular values near 1 (0.7 to 1.2) where
/// those of x are not very small beside the largest: X := a X + (b A + c A²) X with A = X Xᵀ,
/// `iterations` times, where (a, b, c) = (3.4445, -4.7750, 2.0315). No graph is made.
Tensor newton_schulz(const Tensor& x, std::int64_t iterations = 5);

}  // namespace heed
