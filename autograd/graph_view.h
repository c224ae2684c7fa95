#pragma once

#include <heed/autograd/named_tensor.h>
#include <heed/autograd/tensor.h>

#include <string>

/// What a graph looks like. Both forms number the nodes from 0 in the order in which they were
/// made, so that the same program gives the same text; a tensor in `names` (`parameters(model)`, or
/// any tensor of the graph) is called by its name instead, the second of one name `name#2`. Quotes,
/// backslashes and line breaks in names have a backslash before them. Shapes are those of what a
/// node made. The element type is y's where none is given. Both throw GraphError if `y` is
/// undefined.
namespace heed {

/// The graph behind `y` as a program, a line for each node:
///
///     4 nodes, f64
///     x = leaf                 (3)
///     %1 = multiply(x, x)      (3)  saves inputs
///     %2 = multiply_number(x)  (3)
///     %3 = add(%1, %2)         (3)
///
/// An input without a node is a `constant`, with its name if it has one (a frozen parameter) and
/// the node holds on to its values; an absent one is `none`. `saves` says whose values the node
/// holds on to at this moment. Long lists of inputs are broken to stay narrow.
std::string to_text(const Tensor& y, const Parameters& names = {});

/// The same for Graphviz (`dot -Tsvg`): ops are boxes, leaves ellipses, constants plain. Values
/// that a node saves are bold: an edge if it is an input, the frame of the box if it is the output.
std::string to_dot(const Tensor& y, const Parameters& names = {});

}  // namespace heed
