// SPDX-License-Identifier: Apache-2.0
// Steps that tests share.
#pragma once

#include "foretrain/graph/graph.h"

namespace foretrain::memory {

// The step with an all-reduce of all its gradients at the end.
inline graph::Graph with_all_reduce(graph::Graph step) {
  graph::Node node;
  node.kind = graph::Kind::AllReduce;
  node.phase = graph::Phase::Update;
  for (const auto& [parameter, gradient] : step.gradients) node.inputs.push_back(gradient);
  step.nodes.push_back(std::move(node));
  return step;
}

}  // namespace foretrain::memory
