#pragma once

#include <heed/data/batch.h>
#include <heed/layers/transformer.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heed::cli {

/// A transformer whose training step is timed: GELU by erf, no dropout, every target counts.
struct BenchModel {
  std::string name;
  TransformerConfig config;
  std::int64_t rows;  ///< of a batch
};

const std::vector<BenchModel>& bench_models();
/// Throws ValueError for a name that is not known.
const BenchModel& bench_model(std::string_view name);

std::int64_t tokens_of_step(const BenchModel& model);
/// Floating-point operations of a step: 2mnk for each matrix product of the forward, causal
/// attention counted at half, times three for the backward. All else is left out.
double flops_of_step(const BenchModel& model);

/// Batch number `n`, in integers alone, so that another language can make it too. In each row an
/// id follows from the one before, up to one of four choices: there is something to learn.
Batch bench_batch(const BenchModel& model, std::int64_t n);

}  // namespace heed::cli
