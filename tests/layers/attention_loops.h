#pragma once

// What MultiHeadAttention has to give, in loops.

#include <heed/layers/layers.h>

#include <cmath>
#include <functional>
#include <vector>

namespace heed::layer_tests {

using Hides = std::function<bool(std::int64_t b, std::int64_t i, std::int64_t j)>;

/// Attention written out in loops over b, h, i, j, d, in doubles.
inline std::vector<double> by_loops(const MultiHeadAttention& m, const Tensor& x,
                                    const Tensor& memory, const Hides& hidden, double scale) {
  const std::int64_t B = x.dim(0), Tq = x.dim(1), Tk = memory.dim(1), C = x.dim(2);
  const std::int64_t H = m.heads, D = C / H, shared = m.config.kv_heads ? m.config.kv_heads : H;
  const auto project = [C](const std::vector<double>& rows, const Linear& map) {
    const std::vector<double> w = map.weight.to_vector();
    const std::size_t in = static_cast<std::size_t>(C), out = w.size() / in;
    std::vector<double> y(rows.size() / in * out);
    for (std::size_t n = 0; n < y.size(); ++n) {
      const std::size_t row = n / out * in, c = n % out;
      y[n] = map.bias.defined() ? map.bias.to_vector()[c] : 0;
      for (std::size_t k = 0; k < in; ++k) y[n] += rows[row + k] * w[k * out + c];
    }
    return y;
  };
  std::vector<double> q = project(x.to_vector(), m.w_q), k = project(memory.to_vector(), m.w_k);
  const std::vector<double> v = project(memory.to_vector(), m.w_v);
  const auto at = [D](std::int64_t T, std::int64_t heads, std::int64_t b, std::int64_t t,
                      std::int64_t h, std::int64_t d) {
    return static_cast<std::size_t>(((b * T + t) * heads + h) * D + d);
  };
  const auto turn = [&](std::vector<double>& rows, std::int64_t T, std::int64_t heads,
                        std::int64_t first) {
    for (std::int64_t b = 0; b < B; ++b)
      for (std::int64_t t = 0; t < T; ++t)
        for (std::int64_t h = 0; h < heads; ++h)
          for (std::int64_t d = 0; d < D / 2; ++d) {
            double &one = rows[at(T, heads, b, t, h, d)],
                   &other = rows[at(T, heads, b, t, h, d + D / 2)];
            const double angle = static_cast<double>(first + t) *
                                 std::pow(10000, -2.0 * static_cast<double>(d) / double(D));
            const double turned = one * std::cos(angle) - other * std::sin(angle);
            other = one * std::sin(angle) + other * std::cos(angle);
            one = turned;
          }
  };
  if (m.config.positions == Positions::rotary) {
    turn(q, Tq, H, Tk - Tq);
    turn(k, Tk, shared, 0);
  }
  std::vector<double> mixed(q.size());
  for (std::int64_t b = 0; b < B; ++b)
    for (std::int64_t h = 0; h < H; ++h)
      for (std::int64_t i = 0; i < Tq; ++i) {
        const std::int64_t kv = h / (H / shared);
        std::vector<double> weight(static_cast<std::size_t>(Tk), 0.0);
        double total = 0;
        for (std::int64_t j = 0; j < Tk; ++j) {
          if (hidden(b, i, j)) continue;
          double score = 0;
          for (std::int64_t d = 0; d < D; ++d)
            score += q[at(Tq, H, b, i, h, d)] * k[at(Tk, shared, b, j, kv, d)];
          score *= scale;
          if (m.config.positions == Positions::alibi)  // of 2 heads: 2^-4 and 2^-8
            score -= std::pow(2, -4.0 * static_cast<double>(h + 1)) *
                     std::abs(static_cast<double>(i + Tk - Tq - j));
          total += weight[static_cast<std::size_t>(j)] = std::exp(score);
        }
        for (std::int64_t j = 0; j < Tk; ++j)
          for (std::int64_t d = 0; d < D; ++d)
            if (total > 0)
              mixed[at(Tq, H, b, i, h, d)] +=
                  weight[static_cast<std::size_t>(j)] / total * v[at(Tk, shared, b, j, kv, d)];
      }
  return project(mixed, m.w_o);
}

}  // namespace heed::layer_tests
