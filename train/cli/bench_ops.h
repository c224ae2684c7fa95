#pragma once

#include <heed/tests/autograd/op_table.h>

#include <functional>

namespace heed::cli {

/// The first way in which a row calls its op, in f32: the call, which records, and one sweep back
/// through what it recorded (nothing where the op is not differentiable).
struct RowCalls {
  std::function<void()> forward, backward;
};

/// Both refer to the row.
RowCalls calls_of(const op_table::Row& row);

}  // namespace heed::cli
