// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "foretrain/base/error.h"
#include "foretrain/base/near.h"
#include "foretrain/graph/op.h"
#include "foretrain/graph/passes.h"
#include "foretrain/graph/rules.h"

namespace foretrain::graph {
namespace {

[[noreturn]] void fail(const Graph& graph, const std::string& what) {
  throw Error(ErrorKind::BadInput, "model '" + printable(graph.name) + "': " + what);
}

[[noreturn]] void fail(const Graph& graph, std::size_t node, const std::string& what) {
  const Node& n = graph.nodes[node];
  throw Error(ErrorKind::BadInput, "model '" + printable(graph.name) + "', node " +
                                       std::to_string(node) + " '" + printable(n.scope) + "' (" +
                                       printable(describe(n)) + "): " + what);
}

Shapes shapes_of(const Graph& graph, const std::vector<TensorId>& ids) {
  Shapes shapes;
  shapes.reserve(ids.size());
  for (const TensorId id : ids) shapes.push_back(graph.tensor(id).shape);
  return shapes;
}

void verify_shapes(const Graph& graph, std::size_t n) {
  const Node& node = graph.nodes[n];
  const Shapes inputs = shapes_of(graph, node.inputs);
  Shapes shapes = shapes_of(graph, node.outputs);
  const bool given = op(node).infer == infer_given || !is_forward(node);
  try {
    if (given) {
      require_form(node.kind, inputs, shapes);
    } else {
      shapes = op(node).infer(node, inputs);
    }
  } catch (const Error& error) {
    fail(graph, n, error.what());
  }
  if (shapes.size() != node.outputs.size()) {
    fail(graph, n,
         "has " + std::to_string(node.outputs.size()) + " outputs instead of " +
             std::to_string(shapes.size()));
  }
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const Shape& stated = graph.tensor(node.outputs[i]).shape;
    if (!(shapes[i] == stated)) {
      fail(graph, n,
           "output " + std::to_string(i) + " has shape " + to_string(stated, graph.symbols) +
               ", its inputs give " + to_string(shapes[i], graph.symbols));
    }
  }
}

class Verifier {
 public:
  explicit Verifier(const Graph& graph) : graph_(graph), written_(graph.tensors.size(), false) {}

  void run() {
    for (std::size_t t = 0; t < graph_.tensors.size(); ++t) tensor(t);
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      reads(n);
      writes(n);
      verify_shapes(graph_, n);
    }
    ends();
  }

 private:
  static std::size_t at(TensorId id) { return static_cast<std::size_t>(id); }
  bool known(TensorId id) const { return id >= 0 && at(id) < graph_.tensors.size(); }
  bool written(TensorId id) const { return known(id) && written_[at(id)]; }

  void tensor(std::size_t t) {
    const Tensor& tensor = graph_.tensors[t];
    const std::string name = "tensor " + std::to_string(t) + " '" + printable(tensor.name) + "' ";
    for (const Dim& dim : tensor.shape.dims()) {
      if (dim.factor < 1) fail(graph_, name + "has a dimension below 1");
    }
    try {
      elements(tensor.shape);
    } catch (const Error& error) {
      fail(graph_, name + "has too many elements: " + error.what());
    }
    const bool learned = tensor.role == Role::Parameter && is_floating(tensor.type);
    if (tensor.trainable && !learned) {
      fail(graph_, name + "is trainable, but no floating-point parameter");
    }
    written_[t] = tensor.role != Role::Activation && tensor.role != Role::Gradient;
  }

  void reads(std::size_t n) const {
    const Node& node = graph_.nodes[n];
    for (const TensorId id : node.inputs) {
      const std::string what = "reads tensor " + std::to_string(id);
      if (!known(id)) fail(graph_, n, what + ", which is not there");
      const bool old_gradient = graph_.tensor(id).role == Role::Gradient && !is_forward(node);
      if (!written(id) && !old_gradient) {
        fail(graph_, n,
             what +
                 " before any node writes it; nodes must be in execution order, "
                 "without cycles");
      }
    }
  }

  void writes(std::size_t n) {
    const Node& node = graph_.nodes[n];
    for (const TensorId id : node.outputs) {
      const std::string what = "writes tensor " + std::to_string(id);
      if (!known(id)) fail(graph_, n, what + ", which is not there");
      if (written(id)) fail(graph_, n, what + ", which is there already");
      if (is_forward(node) && graph_.tensor(id).role != Role::Activation) {
        fail(graph_, n, what + ", which is no activation");
      }
      written_[at(id)] = true;
    }
  }

  void ends() const {
    for (const TensorId id : graph_.outputs) {
      if (!written(id)) fail(graph_, "an output names a tensor that no node writes");
    }
    if (graph_.loss) {
      if (!written(*graph_.loss)) fail(graph_, "the loss names a tensor that no node writes");
      if (!(elements(graph_.tensor(*graph_.loss).shape) == Dim(1))) {
        fail(graph_, "the loss is not a single number");
      }
    }
    for (const auto& [parameter, gradient] : graph_.gradients) {
      if (!known(parameter) || !graph_.tensor(parameter).trainable || !written(gradient) ||
          !(graph_.tensor(gradient).shape == graph_.tensor(parameter).shape)) {
        fail(graph_, "a gradient does not belong to a trainable parameter of its shape");
      }
    }
  }

  const Graph& graph_;
  std::vector<bool> written_;  // so far
};

}  // namespace

void require_forward(const Graph& graph) {
  const bool forward = std::all_of(graph.nodes.begin(), graph.nodes.end(), [](const Node& node) {
    const bool of_parameters = is_communication(node) && !is_activation_exchange(node);
    return node.phase == Phase::Forward && !of_parameters;
  });
  if (!forward || !graph.gradients.empty()) {
    throw Error(ErrorKind::BadInput, "model '" + printable(graph.name) +
                                         "' has a backward pass already; give its forward pass");
  }
}

void verify(const Graph& graph) { Verifier(graph).run(); }

}  // namespace foretrain::graph
