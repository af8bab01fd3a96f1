// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "foretrain/graph/bind.h"

namespace foretrain::graph {

// The graph with numbers in place of the symbols that `values` names; the others stay open. Throws
// Error(BadInput) for a name that is no symbol of the graph, a value below 1, and a size beyond
// 2^48.
Graph set_symbols(Graph graph, const Binding& values);

}  // namespace foretrain::graph
