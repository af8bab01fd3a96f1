// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"
#include "foretrain/graph/op.h"
#include "foretrain/graph/passes.h"
#include "foretrain/graph/rules.h"

namespace foretrain::graph {
namespace {

[[noreturn]] void fail(const Graph& graph, std::size_t node, const std::string& what) {
  const Node& n = graph.nodes[node];
  throw Error(ErrorKind::BadInput, "model '" + printable(graph.name) + "', node " +
                                       std::to_string(node) + " '" + printable(n.scope) + "' (" +
                                       printable(describe(n)) + "): " + what);
}

void verify_shapes(const Graph& graph, std::size_t n) {
  const Node& node = graph.nodes[n];
  if (op(node).infer == infer_given || node.phase != Phase::Forward) return;
  Shapes inputs;
  for (const TensorId id : node.inputs) inputs.push_back(graph.tensor(id).shape);
  Shapes shapes;
  try {
    shapes = op(node).infer(node, inputs);
  } catch (const Error& error) {
    fail(graph, n, error.what());
  }
  if (shapes.size() != node.outputs.size()) {
    fail(graph, n, "has " + std::to_string(node.outputs.size()) + " outputs instead of " +
                       std::to_string(shapes.size()));
  }
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const Shape& given = graph.tensor(node.outputs[i]).shape;
    if (!(shapes[i] == given)) {
      fail(graph, n, "output " + std::to_string(i) + " has shape " +
                         to_string(given, graph.symbols) + ", its inputs give " +
                         to_string(shapes[i], graph.symbols));
    }
  }
}

}  // namespace

void verify(const Graph& graph) {
  std::vector<bool> written(graph.tensors.size(), false);
  const auto known = [&](TensorId id) {
    return id >= 0 && static_cast<std::size_t>(id) < graph.tensors.size();
  };
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    const Role role = graph.tensors[t].role;
    written[t] = role != Role::Activation && role != Role::Gradient;
  }
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    for (const TensorId id : node.inputs) {
      if (!known(id)) fail(graph, n, "reads tensor " + std::to_string(id) + ", which is not there");
      const bool old_gradient = graph.tensor(id).role == Role::Gradient && node.phase != Phase::Forward;
      if (!written[static_cast<std::size_t>(id)] && !old_gradient) {
        fail(graph, n, "reads tensor " + std::to_string(id) +
                           " before any node writes it; nodes must be in execution order, "
                           "without cycles");
      }
    }
    for (const TensorId id : node.outputs) {
      if (!known(id)) fail(graph, n, "writes tensor " + std::to_string(id) + ", which is not there");
      if (written[static_cast<std::size_t>(id)]) {
        fail(graph, n, "writes tensor " + std::to_string(id) + ", which is there already");
      }
      written[static_cast<std::size_t>(id)] = true;
    }
    verify_shapes(graph, n);
  }
  for (const TensorId id : graph.outputs) {
    if (!known(id) || !written[static_cast<std::size_t>(id)]) {
      throw Error(ErrorKind::BadInput, "model '" + printable(graph.name) +
                                           "': an output names a tensor that no node writes");
    }
  }
  if (graph.loss && (!known(*graph.loss) || !written[static_cast<std::size_t>(*graph.loss)])) {
    throw Error(ErrorKind::BadInput, "model '" + printable(graph.name) +
                                         "': the loss names a tensor that no node writes");
  }
}

}  // namespace foretrain::graph
