#pragma once

#include <heed/layers/visitor.h>

#include <array>
#include <string_view>

namespace heed {

struct LayerNormOptions {
  double eps = 1e-5;  ///< added to the variance, inside the root
};

/// Layer normalisation of the last axis (Ba et al., arXiv:1607.06450), then times weight, which
/// starts at 1, plus bias, which starts at 0.
struct LayerNorm {
  Tensor weight;  ///< (d)
  Tensor bias;    ///< (d)
  double eps;

  explicit LayerNorm(std::int64_t d, LayerNormOptions options = {});

  Tensor operator()(const Tensor& x) const;
  void visit(Visitor& v);
};

struct RmsNormOptions {
  double eps = 1e-6;  ///< added to the mean square, inside the root
};

/// Root mean square normalisation of the last axis (Zhang and Sennrich, arXiv:1910.07467), then
/// times weight, which starts at 1.
struct RmsNorm {
  Tensor weight;  ///< (d)
  double eps;

  explicit RmsNorm(std::int64_t d, RmsNormOptions options = {});

  Tensor operator()(const Tensor& x) const;
  void visit(Visitor& v);
};

/// What a model normalises with.
enum class NormKind { layer, rms };
inline constexpr std::array kNormKinds{NormKind::layer, NormKind::rms};
/// As on the command line: "layer", "rms".
std::string_view name(NormKind kind);

/// Where the norm of a block's part stands.
enum class NormPlace {
  pre,   ///< x + part(norm(x)), and one norm at the end (Xiong et al., arXiv:2002.04745)
  post,  ///< norm(x + part(x)) (Vaswani et al., arXiv:1706.03762, section 3.1)
  none   ///< x + part(x)
};
inline constexpr std::array kNormPlaces{NormPlace::pre, NormPlace::post, NormPlace::none};
/// As on the command line: "pre", "post", "none".
std::string_view name(NormPlace place);

struct NormOptions {
  NormKind kind = NormKind::layer;
  bool off = false;  ///< no parameters, and the identity
  double eps = 1e-5;
};

/// LayerNorm or RmsNorm or neither, as a config says.
struct Norm {
  NormOptions options;
  Tensor weight;  ///< (d); undefined if off
  Tensor bias;    ///< (d); of LayerNorm alone

  explicit Norm(std::int64_t d, NormOptions settings = {});

  Tensor operator()(const Tensor& x) const;
  void visit(Visitor& v);
};

}  // namespace heed
