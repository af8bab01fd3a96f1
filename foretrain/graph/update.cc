// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>

#include "foretrain/graph/backward.h"

namespace foretrain::graph {
namespace {

void add_state(Graph& graph, const std::string& name, const Shape& shape, DType type) {
  graph.tensors.push_back({name, shape, type, Role::OptimizerState, false});
}

std::int64_t blocks(std::int64_t values, std::int64_t block) {
  return (values + block - 1) / block;
}

// A byte for each value and an fp32 scale per block; fp32 where the parameter is small.
void add_in_blocks(Graph& graph, const Tensor& parameter) {
  const std::int64_t values = elements(parameter.shape).factor;
  if (values < kLeastInBlocks) return add_state(graph, parameter.name, parameter.shape, DType::F32);
  add_state(graph, parameter.name, parameter.shape, DType::I8);
  add_state(graph, parameter.name, Shape{blocks(values, kStateBlock)}, DType::F32);
}

// Of the last two axes; what is no matrix keeps a value for each of its own. In fp32.
// Source: Shazeer, Stern, ICML 2018; transformers, optimization.py.
void add_factored(Graph& graph, const Tensor& parameter) {
  const int rank = parameter.shape.rank();
  if (rank < 2) return add_state(graph, parameter.name, parameter.shape, DType::F32);
  const std::span<const Dim> dims = parameter.shape.dims();
  Shape rows(dims.first(static_cast<std::size_t>(rank - 1)));
  Shape columns(dims.first(static_cast<std::size_t>(rank - 2)));
  columns.push_back(dims.back());
  add_state(graph, parameter.name, rows, DType::F32);
  add_state(graph, parameter.name, columns, DType::F32);
}

void add_states(Graph& graph, const Tensor& parameter, const OptimizerRow& row, StateType states) {
  if (row.form == StateForm::Paged) return;
  if (row.form == StateForm::Factored) return add_factored(graph, parameter);
  for (int s = 0; s < row.states; ++s) {
    if (row.form == StateForm::Blocks) {
      add_in_blocks(graph, parameter);
    } else {
      const DType type = states == StateType::OfParameter ? parameter.type : DType::F32;
      add_state(graph, parameter.name, parameter.shape, type);
    }
  }
}

}  // namespace

Graph update(Graph graph, Optimizer optimizer, StateType states) {
  const OptimizerRow& row = row_of(optimizer);
  Node node;
  node.kind = Kind::Update;
  node.phase = Phase::Update;
  node.scope = "optimizer";
  node.label = std::string(row.name);
  node.attributes.set(Attr::Optimizer, {Dim(static_cast<std::int64_t>(optimizer))});
  if (states == StateType::OfParameter && !graph.gradients.empty()) {
    const DType type = graph.tensor(graph.gradients.front().first).type;
    node.attributes.set(Attr::Type, {Dim(static_cast<std::int64_t>(type))});
  }
  for (const auto& [parameter, gradient] : graph.gradients) node.inputs.push_back(parameter);
  for (const auto& [parameter, gradient] : graph.gradients) node.inputs.push_back(gradient);
  for (const auto& [parameter, gradient] : graph.gradients) {
    const Tensor of = graph.tensor(parameter);  // a copy: the list grows
    add_states(graph, of, row, states);
  }
  if (row.form == StateForm::Paged) {
    graph.notes.push_back("the states of " + std::string(row.name) +
                          " lie in the host's memory; fetching them takes no time");
  }
  if (!node.inputs.empty()) graph.nodes.push_back(std::move(node));
  return graph;
}

}  // namespace foretrain::graph
