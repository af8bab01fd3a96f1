// SPDX-License-Identifier: Apache-2.0
// Which tensors of a model context-parallel ranks share along the sequence.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "foretrain/graph/axes.h"
#include "foretrain/graph/graph.h"
#include "foretrain/parallel/detail/parts.h"

namespace foretrain::parallel {

// What ranks do with a value that they put together: the same, or each something else, so that
// its gradient is the sum of theirs.
enum class Gathered { Same, Different };

struct ContextParts {
  std::vector<std::optional<graph::AxisFactor>> split;  // of each tensor: along what
  std::map<Operand, int> own_parts;                     // whole values of which a rank takes a part
  std::map<Operand, Gathered> gathers;                  // shared values that are needed whole
  std::set<graph::NodeId> rings;                        // attentions over shared sequences
  std::set<graph::NodeId> shared;                       // nodes that each rank does its part of
  std::string indivisible;  // a sequence that the ranks do not divide; "": there is none
};

// The sequence is the second axis of inputs of whole numbers. It is followed by the axes that
// operators declare.
ContextParts find_context_parts(const graph::Graph& forward, int ranks);

}  // namespace foretrain::parallel
