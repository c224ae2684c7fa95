// Lion and Muon, which PyTorch 1.13 does not have, against plain loops.
#include <gmock/gmock.h>
#include <heed/autograd/autograd.h>
#include <heed/layers/layers.h>
#include <heed/train/train.h>

#include <cmath>

#include "optimizer_support.h"
#include "support.h"

namespace heed {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Matrix = std::vector<std::vector<double>>;

void expect_near(const std::vector<double>& found, const std::vector<double>& right,
                 double tolerance) {
  ASSERT_EQ(found.size(), right.size());
  for (std::size_t i = 0; i < right.size(); ++i)
    EXPECT_NEAR(found[i], right[i], tolerance) << "element " << i;
}

// ---- Lion

TEST(Lion, FollowsTheSignOfItsMomentum) {
  for (const DType dtype : {f64, f32}) {
    std::vector<double> p = wave(6, 9), m(6, 0);
    Tensor x = leaf(p, {2, 3}, dtype);
    Lion optimizer({{"x", x}}, {.lr = .05, .beta1 = .8, .beta2 = .95, .weight_decay = .2});
    for (int t = 0; t < 6; ++t) {
      const std::vector<double> g = wave(6, t);
      give_gradient(x, g);
      optimizer.step();
      for (std::size_t i = 0; i < p.size(); ++i) {
        const double u = .8 * m[i] + .2 * g[i];
        p[i] -= .05 * ((u > 0) - (u < 0) + .2 * p[i]);
        m[i] = .95 * m[i] + .05 * g[i];
      }
      expect_near(x.to_vector(), p, dtype == f64 ? 1e-12 : 1e-6);
    }
  }
}

TEST(Lion, StaysWhereNothingPulls) {
  Tensor x = leaf({1, -2}, {2});
  Lion optimizer({{"x", x}}, {.lr = .1});
  give_gradient(x, {0, 0});
  optimizer.step();
  EXPECT_EQ(x.to_vector(), (std::vector<double>{1, -2}));
}

// ---- Muon

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix c(a.size(), std::vector<double>(b[0].size()));
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < b[0].size(); ++j)
      for (std::size_t k = 0; k < b.size(); ++k) c[i][j] += a[i][k] * b[k][j];
  return c;
}
Matrix transposed(const Matrix& a) {
  Matrix t(a[0].size(), std::vector<double>(a.size()));
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < a[0].size(); ++j) t[j][i] = a[i][j];
  return t;
}
Matrix matrix(const std::vector<double>& values, std::size_t rows) {
  const std::size_t columns = values.size() / rows;
  Matrix m;
  for (std::size_t i = 0; i < rows; ++i)
    m.emplace_back(values.begin() + static_cast<long>(i * columns),
                   values.begin() + static_cast<long>((i + 1) * columns));
  return m;
}
std::vector<double> flat(const Matrix& m) {
  std::vector<double> all;
  for (const auto& row : m) all.insert(all.end(), row.begin(), row.end());
  return all;
}

/// As published: X is turned if it is tall, and X := a X + (b A + c A A) X with A = X Xᵀ.
Matrix newton_schulz_by_loops(Matrix x) {
  const bool tall = x.size() > x[0].size();
  if (tall) x = transposed(x);
  double length = 0;
  for (double v : flat(x)) length += v * v;
  for (auto& row : x)
    for (double& v : row) v /= std::sqrt(length) + 1e-7;
  for (int n = 0; n < 5; ++n) {
    const Matrix a = product(x, transposed(x)), aa = product(a, a);
    Matrix b = a;
    for (std::size_t i = 0; i < a.size(); ++i)
      for (std::size_t j = 0; j < a.size(); ++j) b[i][j] = -4.7750 * a[i][j] + 2.0315 * aa[i][j];
    const Matrix bx = product(b, x);
    for (std::size_t i = 0; i < x.size(); ++i)
      for (std::size_t j = 0; j < x[0].size(); ++j) x[i][j] = 3.4445 * x[i][j] + bx[i][j];
  }
  return tall ? transposed(x) : x;
}

TEST(Muon, FollowsTheOrthogonalMatrixOfWhereItLooks) {
  struct Form {
    std::int64_t rows, columns;
    MuonScale scale;
    bool nesterov;
    double length;
  };
  for (const auto& [rows, columns, scale, nesterov, length] :
       {Form{3, 5, MuonScale::like_adamw, true, .2 * std::sqrt(5.)},
        Form{5, 3, MuonScale::like_adamw, true, .2 * std::sqrt(5.)},
        Form{4, 4, MuonScale::like_adamw, false, .4},
        Form{3, 6, MuonScale::original, true, std::sqrt(2.)},
        Form{6, 3, MuonScale::original, false, 1.}}) {
    const auto n = static_cast<std::size_t>(rows * columns);
    std::vector<double> p = wave(n, 5), m(n, 0);
    Tensor x = leaf(p, {rows, columns});
    Muon optimizer(
        {{"x.weight", x}},
        {.lr = .1, .momentum = .9, .nesterov = nesterov, .scale = scale, .weight_decay = .3});
    for (int t = 0; t < 4; ++t) {
      const std::vector<double> g = wave(n, t);
      give_gradient(x, g);
      optimizer.step();
      std::vector<double> ahead(n);
      for (std::size_t i = 0; i < n; ++i) {
        m[i] = .9 * m[i] + .1 * g[i];
        ahead[i] = nesterov ? .1 * g[i] + .9 * m[i] : m[i];
      }
      const auto o = flat(newton_schulz_by_loops(matrix(ahead, static_cast<std::size_t>(rows))));
      for (std::size_t i = 0; i < n; ++i) p[i] = (1 - .1 * .3) * p[i] - .1 * length * o[i];
      expect_near(x.to_vector(), p, 1e-9);
    }
  }
}

TEST(Muon, ItsDirectionHasOrthogonalRows) {
  Rng rng(3);
  const Tensor o = newton_schulz(normal({6, 40}, rng, 0, 3, f64));
  const Tensor squares = matmul(o, o, {.transpose_b = true});
  const std::vector<double> values = squares.to_vector();
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t j = 0; j < 6; ++j)
      EXPECT_NEAR(values[6 * i + j], i == j ? 1 : 0, .45) << i << ", " << j;
  EXPECT_EQ(newton_schulz(zeros({2, 2})).to_vector(), std::vector<double>(4, 0));
}

TEST(Muon, LeavesEmbeddingsHeadAndVectorsToAdamW) {
  Rng rng(1);
  const Transformer model({.vocabulary = 5, .context = 4, .layers = 1, .d_model = 8}, rng);
  std::vector<std::string> matrices;
  for (const NamedTensor& p : parameters(model))
    if (hidden_matrices(p)) matrices.push_back(p.name);
  EXPECT_THAT(matrices,
              ElementsAre("blocks.0.attention.w_q.weight", "blocks.0.attention.w_k.weight",
                          "blocks.0.attention.w_v.weight", "blocks.0.attention.w_o.weight",
                          "blocks.0.mlp.up.weight", "blocks.0.mlp.down.weight"));

  Tensor a = leaf(wave(6, 1), {2, 3}), b = leaf(wave(6, 1), {2, 3});
  Muon muon({{"token_embedding.weight", a}},
            {.lr = .1, .beta1 = .8, .beta2 = .9, .eps = 1e-3, .weight_decay = .2});
  AdamW adamw({{"b", b}}, {.lr = .1, .beta1 = .8, .beta2 = .9, .eps = 1e-3, .weight_decay = .2});
  for (int t = 0; t < 3; ++t) {
    give_gradient(a, wave(6, t));
    give_gradient(b, wave(6, t));
    muon.step();
    adamw.step();
  }
  EXPECT_EQ(a.to_vector(), b.to_vector());
}

TEST(Muon, RefusesWhatIsNoMatrix) {
  const auto message = message_of<ValueError>([] {
    Muon({{"bias", leaf({1}, {1})}}, {.matrices = decay_all});
  });
  EXPECT_THAT(message, HasSubstr("muon: bias of shape (1) is no matrix"));
}

}  // namespace
}  // namespace heed
