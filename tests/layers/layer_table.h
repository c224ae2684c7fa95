#pragma once

// One row for every public layer: the ways in which its gradients are checked.

#include <heed/autograd/gradcheck.h>

#include <functional>
#include <string>
#include <vector>

namespace heed::layer_table {

/// A layer of some settings, called in one way, with inputs and start drawn from the seed.
struct Variant {
  std::string label;
  std::function<GradcheckResult(const GradcheckOptions&)> check;
};

struct Row {
  std::string layer;  ///< as the header declares it
  std::vector<Variant> variants;
};

const std::vector<Row>& rows();

/// The layers that a header declares: structs and classes with `operator()` and `visit`.
std::vector<std::string> layers_in(const std::string& header);

/// Those of them that have no row.
std::vector<std::string> without_row(const std::vector<std::string>& layers);

}  // namespace heed::layer_table
