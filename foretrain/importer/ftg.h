// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "foretrain/graph/graph.h"

namespace foretrain::importer {

// Our own graph format, .ftg.json: everything that a graph::Graph holds, as people read it.
// docs/ftg.md describes it.

// One line per tensor and per node. Reading it gives the same graph again, field by field.
std::string write_ftg(const graph::Graph& graph);

// Reads and verifies a graph. Outputs of forward nodes that the text does not declare get the
// shapes that their operators infer. Operators that are not known but have all outputs declared
// become opaque nodes, listed in the graph's notes. Throws Error naming `where` and the place:
//   BadInput     the text is not a well-formed graph, or larger than the format allows
//   Unsupported  an operator that is not known, with outputs of unknown shape; another version
graph::Graph read_ftg(std::string_view text, const std::string& where);

}  // namespace foretrain::importer
