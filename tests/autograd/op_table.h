#pragma once

// One row for every public op: what it is called with, what it has to give, and what it keeps.

#include <heed/autograd/error.h>
#include <heed/autograd/tensor.h>
#include <heed/autograd/tokens_mask.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "reference.h"

namespace heed::op_table {

using reference::Array;
using reference::Arrays;
using List = std::vector<Tensor>;

/// An input: drawn from [low, high] and at least `margin` away from the kinks, or from `choices`
/// where ties matter.
struct In {
  Shape shape = {};
  double low = -2;
  double high = 2;
  std::vector<double> kinks = {};
  double margin = 0.05;
  std::vector<double> choices = {};
};

/// One way to call an op.
struct Variant {
  std::string label;
  std::vector<In> inputs;
  std::function<Tensor(const List&)> call;
  std::function<Array(const Arrays&)> loops;
  bool apart = false;  ///< no two elements of all inputs are close to each other
};

/// A call that has to be refused. `message()` is that of the error, or says what happened instead.
struct Refusal {
  std::string label;
  std::function<std::string()> message;
  std::vector<std::string> says;
};

/// What docs/ops.md says about an op and its overloads.
struct About {
  std::string op;           ///< as it is declared: "softmax", "operator+"
  std::string call;         ///< as it is written: "softmax(x, axis = -1)"
  std::string formula;      ///< plain text
  std::string shapes;       ///< of the inputs and the result
  std::string policy = {};  ///< what heed does where frameworks disagree
  std::string source = {};  ///< paper and equation
};

struct Family {
  std::string name;  ///< of its header in autograd/ops
  std::vector<About> ops;
};

/// Every op, in the order of the headers and their declarations.
const std::vector<Family>& families();

struct Row {
  std::string declaration;  ///< as `declarations` reads it from the header
  std::string name;         ///< how messages name the op
  int saved = 0;            ///< tensors that the graph of a call keeps for the backward
  int order = 2;            ///< highest derivative; 0: the result is not differentiable
  std::vector<Variant> variants;
  std::vector<Refusal> refusals = {};
  std::string family = {};  ///< from `families()`, as is:
  About about = {};
};

/// The rows of every family, one after the other.
const std::vector<Row>& rows();

std::vector<Row> elementwise_rows();
std::vector<Row> activation_rows();
std::vector<Row> compare_rows();
std::vector<Row> reduce_rows();
std::vector<Row> shape_rows();
std::vector<Row> part_rows();
std::vector<Row> index_rows();
std::vector<Row> matmul_rows();
std::vector<Row> softmax_rows();
std::vector<Row> norm_rows();
std::vector<Row> loss_rows();
std::vector<Row> dropout_rows();
std::vector<Row> attention_rows();

/// The inputs of a variant, the same numbers for both types (each is an f32).
List draw(const Variant& variant, DType dtype, std::uint64_t seed = 7);
Arrays arrays(const List& tensors);

/// The storages that the graph behind `y` keeps for the backward.
std::set<const Storage*> saved_by(const Tensor& y);

/// A mask or ids as numbers, so that the ops that give them have rows like the others.
Tensor numbers(const Mask& mask);
Tensor numbers(const Tokens& tokens);

template <class E>
Refusal refuses(std::string label, std::vector<std::string> says, std::function<void()> call) {
  auto message = [call = std::move(call)]() -> std::string {
    try {
      call();
    } catch (const E& error) {
      return error.what();
    } catch (const std::exception& error) {
      return text("another type of error: ", error.what());
    }
    return "no error";
  };
  return {std::move(label), std::move(message), std::move(says)};
}

/// `call` refuses f64 tensors of these shapes with a ShapeError that names the op and both.
Refusal refuses_shapes(std::string name, Shape a, Shape b,
                       std::function<Tensor(const Tensor&, const Tensor&)> call);

std::ostream& operator<<(std::ostream& out, const Row& row);

}  // namespace heed::op_table
