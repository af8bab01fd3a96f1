// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "foretrain/graph/graph.h"

namespace foretrain::graph {

// The graph in Graphviz's language: a box per node with its operator and the shape of its first
// output, gathered in a cluster per first part of the scope and phase; an edge from each writer
// to each reader; an ellipse per input. Parameters are left out.
std::string to_dot(const Graph& graph);

}  // namespace foretrain::graph
