// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foretrain/graph/bind.h"
#include "foretrain/graph/graph.h"
#include "foretrain/importer/onnx/model.h"

namespace foretrain::importer {

// The graph that a file describes, verified. Throws Error naming the node, but not the file.
graph::Graph translate_onnx(const OnnxModel& model, const graph::Binding& values);

// The graph without nodes and tensors that none of its outputs needs; inputs stay.
graph::Graph without_dead_nodes(graph::Graph graph);

}  // namespace foretrain::importer
