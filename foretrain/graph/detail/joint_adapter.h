// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "foretrain/graph/detail/rewrite.h"
#include "foretrain/graph/passes.h"

namespace foretrain::graph {

// Whether `target` is a part of a joint layer: "q_proj", "k_proj" or "v_proj".
bool is_part(const std::string& target);

// Whether the linear layer computes queries, keys and values together, by the end of its path.
bool is_joint(const Node& linear);

// Adds the adapter of a joint layer, of those of its parts that `what` names, or of all.
void add_joint_adapter(Rewrite& rewrite, const Graph& model, const Node& linear,
                       const Trainable& what);

}  // namespace foretrain::graph
