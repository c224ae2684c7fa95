#pragma once

// What `heed gradcheck` and its tests run: the rows of both tables, and the check of one.

#include <heed/autograd/gradcheck.h>
#include <heed/tests/autograd/op_table.h>
#include <heed/tests/layers/layer_table.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace heed::checks {

/// An op with all its overloads, or a layer, and the ways in which it is called.
struct Subject {
  using Case = layer_table::Variant;

  std::string name;         ///< "softmax", "MultiHeadAttention"
  std::string family;       ///< that of the op; "layers"
  std::vector<Case> cases;  ///< none if the result is not differentiable
};

/// Ops in the order of the headers. Beside `gradcheck`, which takes the kernels at order 1 and what
/// they are composed of at order 2, a case compares the gradients that the two give.
std::vector<Subject> op_subjects(const std::vector<op_table::Row>& rows);
std::vector<Subject> layer_subjects(const std::vector<layer_table::Row>& rows);
/// All of heed's.
std::vector<Subject> subjects();

struct Report {
  std::int64_t elements = 0;  ///< compared, at all orders
  std::int64_t kinks = 0;     ///< not compared: the function has no derivative there
  double relative = 0;        ///< the worst error, relative to the larger of both values and of 1
  double seconds = 0;
  std::string failure = {};  ///< the case that failed first, and how; empty if all hold
};

/// Checks every case, to the given order.
Report check(const Subject& subject, int order, std::uint64_t seed);

}  // namespace heed::checks
